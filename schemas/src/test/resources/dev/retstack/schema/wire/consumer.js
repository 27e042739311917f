// node consumer.js MODULES SCHEMA MESSAGE WAY: prints a message as a consumer in JavaScript sees it.
// WAY is "plain", avsc as it comes, or "bigint", with the long type of schemas/README.md.
const [modules, schema, message, way] = process.argv.slice(2);
const fs = require("fs");
const avro = require(modules + "/node_modules/avsc");
const long = avro.types.LongType.__with({
  fromBuffer: (b) => b.readBigInt64LE(),
  toBuffer: (n) => {
    const b = Buffer.alloc(8);
    b.writeBigInt64LE(n);
    return b;
  },
  fromJSON: BigInt,
  toJSON: String,
  isValid: (n) => typeof n === "bigint",
  compare: (a, b) => (a < b ? -1 : a > b ? 1 : 0),
});
const registry = way === "bigint" ? { long } : {};
const type = avro.Type.forSchema(JSON.parse(fs.readFileSync(schema)), { registry });
const value = type.fromBuffer(fs.readFileSync(message).subarray(5));
console.log(JSON.stringify(value, (_, v) => (typeof v === "bigint" ? v.toString() : v)));
