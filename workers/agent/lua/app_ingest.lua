-- An application that takes in data: batches into many pairs of a parent and a child table.

package.path = debug.getinfo(1, "S").source:match("^@(.*/)") .. "?.lua;" .. package.path
local splash = require("splash")

local SOURCES = 100 -- what the first column of the composite key counts to

local function is_composite() return sysbench.opt.primary_key == "composite" end

local function make_pair(con, number)
   local key, columns = "id BIGINT NOT NULL", "id"
   local reference, referring = "parent_id BIGINT NOT NULL", "parent_id"
   if is_composite() then
      key, columns = "source INT NOT NULL, " .. key, "source, id"
      reference, referring = "parent_source INT NOT NULL, " .. reference, "parent_source, parent_id"
   end
   con:query(string.format(
      [[CREATE TABLE parent%d (%s, created DATETIME NOT NULL, status TINYINT NOT NULL, amount DECIMAL(10,2) NOT NULL,
      note VARCHAR(255) NOT NULL, PRIMARY KEY (%s), KEY created (created, status)) ENGINE=InnoDB]],
      number, key, columns
   ))
   local constraint = string.format(", FOREIGN KEY (%s) REFERENCES parent%d (%s)", referring, number, columns)
   con:query(string.format(
      [[CREATE TABLE child%d (%s, %s, quantity INT NOT NULL, note VARCHAR(255) NOT NULL, PRIMARY KEY (%s),
      KEY parent (%s)%s) ENGINE=InnoDB]],
      number, key, reference, columns, referring, sysbench.opt.foreign_keys and constraint or ""
   ))
end

local function names()
   local found = {}
   for number = 1, sysbench.opt.tables do
      found[#found + 1] = "child" .. number
      found[#found + 1] = "parent" .. number
   end
   return found
end

local uniform = sysbench.rand.uniform
local batch, children, note, next_id, with_source
local parents, offspring = {}, {}

local function fill(first, nth)
   for i = 1, batch do
      local id = first + i - 1
      local source = with_source and (id % SOURCES + 1) .. "," or ""
      if nth == 0 then
         parents[i] = string.format(
            "(%s%d,NOW(),%d,%.2f,'%s')", source, id, uniform(1, 9), uniform(1, 100000) / 100, sysbench.rand.string(note)
         )
      else
         offspring[i] = string.format(
            "(%s%d,%s%d,%d,'%s')",
            source, (id - 1) * children + nth, source, id, uniform(1, 99), sysbench.rand.string(note)
         )
      end
   end
end

splash.workload {
   options = {
      tables = { "pairs of a parent and a child table", 5 },
      batch = { "rows an INSERT", 50 },
      children = { "child rows of each parent row", 1 },
      primary_key = { "simple or composite", "simple" },
      foreign_keys = { "whether the child tables refer to their parents", false },
      payload = { "bytes of each row's text", 100 },
   },
   tables = names,
   pieces = function() return sysbench.opt.tables end,
   make = make_pair,
   start = function()
      splash.setup("SET SESSION foreign_key_checks = 0")
      for _, name in ipairs(names()) do
         splash.setup("TRUNCATE TABLE " .. name)
      end
   end,
   thread = function()
      batch, children, with_source = sysbench.opt.batch, sysbench.opt.children, is_composite()
      note = string.rep("@", sysbench.opt.payload)
      next_id = sysbench.tid * batch + 1
   end,
   event = function()
      local number = uniform(1, sysbench.opt.tables)
      local rows = 0
      splash.control("BEGIN")
      fill(next_id, 0)
      rows = rows + splash.insert("parent" .. number, parents)
      for nth = 1, children do
         fill(next_id, nth)
         rows = rows + splash.insert("child" .. number, offspring)
      end
      splash.control("COMMIT")
      splash.add(splash.ROWS, rows)
      next_id = next_id + batch * sysbench.opt.threads
   end,
   counts = { "rows" },
   interval = function() return { rows_inserted = splash.total("rows") } end,
   final = function() return { rows_inserted = splash.total("rows") } end,
}
