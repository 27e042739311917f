create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000)
  insert into t select i, 'name ' || (i * 7919 % 1009), i / 8.0 from n;
create index t_b on t(b);
begin;
delete from t where a % 3 = 0;
savepoint inner_one;
update t set c = c * 2 where b like 'name 1%';
rollback to inner_one;
commit;
select count(*), sum(a), round(avg(c), 3), max(b) from t;
select b, group_concat(a) from t where b between 'name 10' and 'name 20' group by b order by b desc limit 5;
create view v as select x.a, y.b from t x join t y on y.a = x.a + 1;
select count(*), min(b) from v;
explain query plan select * from v where a = 7;
create trigger g after insert on t begin update t set c = 0 where a = new.a; end;
insert into t values (5000, 'last', 9);
select * from t where a = 5000;
insert into t values (5000, 'again', 9);
select json_extract('{"a": [1, 2, {"b": 3}]}', '$.a[2].b'), hex(x'00ff'), date('2000-03-01', '-1 day');
pragma integrity_check;
vacuum;
.mode line
select a, b from t order by c desc limit 2;
.tables
.schema t
