-- An application at work: reads of five kinds, updates, creations and deletions on pairs of a parent and a child table.
--
-- Parents with an id that 4 divides come and go, each deleted and made anew by one thread only; all others stay, and
-- any thread reads and updates them: so no write ever misses.

package.path = debug.getinfo(1, "S").source:match("^@(.*/)") .. "?.lua;" .. package.path
local splash = require("splash")

local EVERY = 4
local NAMES = 10 -- parents that share a name
local DELETED = splash.counter("rows_deleted")

local uniform, default = sysbench.rand.uniform, sysbench.rand.default

local function parent_row(id)
   return string.format(
      "(%d,%d,'name%08d',%d,NOW(),'%s')",
      id, id * 10, math.floor(id / NAMES), uniform(1, 1000), splash.text(40)
   )
end

local function child_rows(id)
   local rows = {}
   for nth = 1, sysbench.opt.children do
      rows[nth] = string.format(
         "(%d,%d,%d,'%s')", (id - 1) * sysbench.opt.children + nth, id, uniform(1, 99), splash.text(40)
      )
   end
   return table.concat(rows, ",")
end

local function make_pair(con, number)
   con:query(string.format(
      [[CREATE TABLE parent%d (id BIGINT NOT NULL PRIMARY KEY, code BIGINT NOT NULL, name VARCHAR(40) NOT NULL,
      amount INT NOT NULL, changed DATETIME NOT NULL, note VARCHAR(100) NOT NULL, KEY code (code), KEY name (name))
      ENGINE=InnoDB]],
      number
   ))
   local constraint = string.format(", FOREIGN KEY (parent_id) REFERENCES parent%d (id)", number)
   con:query(string.format(
      [[CREATE TABLE child%d (id BIGINT NOT NULL PRIMARY KEY, parent_id BIGINT NOT NULL, quantity INT NOT NULL,
      note VARCHAR(100) NOT NULL, KEY parent (parent_id)%s) ENGINE=InnoDB]],
      number, sysbench.opt.foreign_keys and constraint or ""
   ))
   splash.fill(con, "parent" .. number, 1, sysbench.opt.rows, parent_row)
   splash.fill(con, "child" .. number, 1, sysbench.opt.rows, child_rows)
end

-- As prepared: what an earlier run created goes, what it deleted comes back.
local function restore(number)
   local rows = sysbench.opt.rows
   for _, where in ipairs { "child%d WHERE parent_id > %d", "parent%d WHERE id > %d" } do
      splash.setup("DELETE FROM " .. string.format(where, number, rows))
   end
   local there = {}
   for _, row in ipairs(splash.setup(string.format("SELECT id FROM parent%d WHERE id %% %d = 0", number, EVERY))) do
      there[tonumber(row[1])] = true
   end
   for id = EVERY, rows, EVERY do
      if not there[id] then
         splash.setup(string.format("INSERT INTO parent%d VALUES %s", number, parent_row(id)))
         splash.setup(string.format("INSERT INTO child%d VALUES %s", number, child_rows(id)))
      end
   end
end

-- Of this thread, by table: parents that it may delete, and those that it has deleted.
local live, gone, highest = {}, {}, {}

local function start_lists()
   local threads = sysbench.opt.threads
   for number = 1, sysbench.opt.tables do
      live[number], gone[number] = {}, {}
      for id = EVERY * (sysbench.tid + 1), sysbench.opt.rows, EVERY * threads do
         table.insert(live[number], id)
      end
      -- Of ids above those prepared, the next that is this thread's.
      local above = math.ceil((sysbench.opt.rows + 1) / (EVERY * threads)) * EVERY * threads
      highest[number] = above + EVERY * (sysbench.tid + 1)
   end
end

local function lasting()
   local id
   repeat
      id = default(1, sysbench.opt.rows)
   until id % EVERY ~= 0
   return id
end

local reads = {
   function(number) -- by primary key
      splash.read(string.format("SELECT name, amount FROM parent%d WHERE id = %d", number, lasting()))
   end,
   function(number) -- by an index
      splash.read(string.format("SELECT id, quantity FROM child%d WHERE parent_id = %d", number, lasting()))
   end,
   function(number) -- over a range
      local from = default(1, sysbench.opt.rows) * 10
      local to = from + 10 * (sysbench.opt.range_size - 1)
      splash.read(
         string.format("SELECT id, name, amount FROM parent%d WHERE code BETWEEN %d AND %d", number, from, to)
      )
   end,
   function(number) -- by IN
      local ids = {}
      for i = 1, sysbench.opt.in_size do
         ids[i] = lasting()
      end
      splash.read(
         string.format("SELECT id, name, amount FROM parent%d WHERE id IN (%s)", number, table.concat(ids, ","))
      )
   end,
   function(number) -- by exact match, with the children
      splash.read(string.format(
         [[SELECT p.id, p.amount, c.quantity FROM parent%d p JOIN child%d c ON c.parent_id = p.id
         WHERE p.name = 'name%08d']],
         number, number, math.floor(lasting() / NAMES)
      ))
   end,
}

local updates = {
   function(number) -- by primary key
      splash.write(
         string.format("UPDATE parent%d SET amount = amount + 1, changed = NOW() WHERE id = %d", number, lasting())
      )
   end,
   function(number) -- by an index
      splash.write(string.format("UPDATE child%d SET quantity = quantity + 1 WHERE parent_id = %d", number, lasting()))
   end,
}

local function create(number)
   local is_new = #gone[number] == 0
   local id = is_new and highest[number] or gone[number][1]
   splash.control("BEGIN")
   local rows = splash.write(string.format("INSERT INTO parent%d VALUES %s", number, parent_row(id)))
   rows = rows + splash.write(string.format("INSERT INTO child%d VALUES %s", number, child_rows(id)))
   splash.control("COMMIT")
   splash.add(splash.ROWS, rows)
   if is_new then
      highest[number] = id + EVERY * sysbench.opt.threads
   else
      table.remove(gone[number], 1)
   end
   table.insert(live[number], id)
end

local function delete(number)
   local candidates = live[number]
   if #candidates == 0 then
      return create(number)
   end
   local place = uniform(1, #candidates)
   local id = candidates[place]
   splash.control("BEGIN")
   local rows = splash.write(string.format("DELETE FROM child%d WHERE parent_id = %d", number, id))
   rows = rows + splash.write(string.format("DELETE FROM parent%d WHERE id = %d", number, id))
   splash.control("COMMIT")
   splash.add(DELETED, rows)
   candidates[place] = candidates[#candidates]
   candidates[#candidates] = nil
   table.insert(gone[number], id)
end

splash.workload {
   options = {
      tables = { "pairs of a parent and a child table", 15 },
      rows = { "rows of each parent table", 1000 },
      children = { "child rows of each parent row", 2 },
      reads = { "weight of reads", 70 },
      updates = { "weight of updates", 10 },
      creates = { "weight of creations", 10 },
      deletes = { "weight of deletions", 10 },
      range_size = { "rows of a range", 20 },
      in_size = { "ids of an IN", 10 },
      foreign_keys = { "whether the child tables refer to their parents", false },
   },
   tables = function()
      local found = {}
      for number = 1, sysbench.opt.tables do
         found[#found + 1] = "child" .. number
         found[#found + 1] = "parent" .. number
      end
      return found
   end,
   pieces = function() return sysbench.opt.tables end,
   make = make_pair,
   start = function()
      for number = 1, sysbench.opt.tables do
         restore(number)
      end
   end,
   thread = start_lists,
   event = function()
      local opt = sysbench.opt
      local number = uniform(1, opt.tables)
      local drawn = uniform(1, opt.reads + opt.updates + opt.creates + opt.deletes)
      if drawn <= opt.reads then
         reads[uniform(1, #reads)](number)
      elseif drawn <= opt.reads + opt.updates then
         updates[uniform(1, #updates)](number)
      elseif drawn <= opt.reads + opt.updates + opt.creates then
         create(number)
      else
         delete(number)
      end
   end,
   counts = { "rows", "rows_deleted" },
}
