-- Inserts in batches into one table with an index on its key only, or three more.

package.path = debug.getinfo(1, "S").source:match("^@(.*/)") .. "?.lua;" .. package.path
local splash = require("splash")

local INDEXES = [[,
   KEY market (price, customer),
   KEY register (register, price, customer),
   KEY sold (price, sold_at, customer)]]

local function table_of(secondary_indexes)
   return string.format(
      [[CREATE TABLE purchases (
   id BIGINT NOT NULL PRIMARY KEY,
   sold_at DATETIME NOT NULL,
   register INT NOT NULL,
   customer INT NOT NULL,
   product INT NOT NULL,
   price DECIMAL(8,2) NOT NULL,
   data VARCHAR(255) NOT NULL%s) ENGINE=InnoDB]],
      secondary_indexes > 0 and INDEXES or ""
   )
end

local uniform = sysbench.rand.uniform
local batch, data, next_id
local rows = {}

local function row(id)
   return string.format(
      "(%d,NOW(),%d,%d,%d,%.2f,'%s')",
      id,
      uniform(1, 1000),
      uniform(1, 100000),
      uniform(1, 10000),
      uniform(1, 50000) / 100,
      sysbench.rand.string(data)
   )
end

splash.workload {
   options = {
      secondary_indexes = { "secondary indexes: 0 or 3", 3 },
      batch = { "rows an INSERT", 100 },
      data_length = { "bytes of the column data", 10 },
   },
   pieces = function() return 1 end,
   tables = function() return { "purchases" } end,
   make = function(con) con:query(table_of(sysbench.opt.secondary_indexes)) end,
   start = function() splash.setup("TRUNCATE TABLE purchases") end,
   thread = function()
      batch = sysbench.opt.batch
      data = string.rep("@", sysbench.opt.data_length)
      next_id = sysbench.tid * batch + 1
   end,
   event = function()
      for i = 1, batch do
         rows[i] = row(next_id + i - 1)
      end
      splash.add(splash.ROWS, splash.insert("purchases", rows))
      -- Each thread takes its turn in the sequence of ids: ascending over all, and dense on every server.
      next_id = next_id + batch * sysbench.opt.threads
   end,
   counts = { "rows" },
   interval = function() return { rows_inserted = splash.total("rows") } end,
   final = function() return { rows_inserted = splash.total("rows") } end,
}
