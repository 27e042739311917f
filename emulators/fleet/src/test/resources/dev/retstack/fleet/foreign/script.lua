-- Errors, coroutines, closures, strings, files: what a script does.
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
print("fib", fib(16), arg[0], arg[1], _VERSION)

local lines = {}
for line in io.lines("text") do
  lines[#lines + 1] = line:gsub("(%w+)", string.upper, 1)
  if #lines == 200 then break end
end
table.sort(lines, function(a, b) return a:reverse() < b:reverse() end)
print(lines[1], lines[#lines], #table.concat(lines, ";"))

local function generator(n)
  return coroutine.wrap(function()
    for i = 1, n do
      local got = coroutine.yield(i * i)
      if got == "stop" then error({code = i}) end
    end
    return "done"
  end)
end
local nexts = generator(50)
local sum = 0
for _ = 1, 50 do sum = sum + nexts() end
print("coroutine", sum, nexts(), pcall(nexts))
local thrower = generator(5)
thrower()
local ok, what = pcall(thrower, "stop")
print("thrown", ok, type(what), what.code)

local nested = 0
local function dive(n)
  local fine, message = pcall(function()
    if n == 0 then error("bottom", 0) end
    nested = nested + 1
    return dive(n - 1)
  end)
  if not fine then error(message, 0) end
end
print("nested", pcall(dive, 100), nested)
print("handler", xpcall(function() local x = nil; return x.y end, function(m) return "caught " .. m end))
local function deeper() return (("x"):gsub(".", deeper)) end
print("overflow", select(2, pcall(deeper)):match("stack overflow"))
print("syntax", load("x = = 1"))
print("pattern", pcall(string.rep, "x", -1), pcall(string.gsub, "x", "(", ""))

local collected = 0
for i = 1, 2000 do
  local t = setmetatable({i}, {__gc = function() collected = collected + 1 end, __index = function(_, k) return k end})
  sum = sum + #t["word" .. i % 10]
end
collectgarbage()
-- qemu-s390x 7.2 is wrong about constants that the parser folds
local real, two = 7.5, 2
print("collected", collected, sum, real // two, real % two, two ^ 0.5, math.maxinteger + 1 == math.mininteger)
print(string.format("%5.2f %q %x %s", 3.14159, "a\nb", 255, tostring(nil)), #utf8.char(228, 8364))

local file = assert(io.open("made", "w"))
for i = 1, 100 do file:write(i, " ", i * 0.25, "\n") end
file:close()
print("files", io.open("nowhere"), os.rename("made", "kept"), select(2, os.remove("nowhere")))
os.exit(6)
