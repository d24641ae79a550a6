-- sysbench's own OLTP tests, as its packages bring them, with our reports: a refused connection costs one thread, not
-- the run; writes that match nothing are counted. One more test: `connect`, a connection for each transaction.

package.path = debug.getinfo(1, "S").source:match("^@(.*/)") .. "?.lua;" .. package.path
local splash = require("splash")
require("oltp_common")

local options = sysbench.cmdline.options
options.oltp_test = { "which test; sysbench keeps --test for itself", "oltp_read_write" }
options.random_points = { "points in the IN of select_random_points", 10 }
options.number_of_ranges = { "ranges of select_random_ranges", 10 }
options.delta = { "size of a range of select_random_ranges", 5 }

-- Statements that are to change a row, so that those which match none are seen.
local WRITES = { index_updates = true, non_index_updates = true, deletes = true }
local prepare_plain = prepare_for_each_table

function prepare_for_each_table(key)
   prepare_plain(key)
   for number = 1, WRITES[key] and sysbench.opt.tables or 0 do
      local plain = stmt[number][key]
      stmt[number][key] = {
         execute = function()
            plain:execute()
            splash.changed()
         end,
         close = function() plain:close() end,
      }
   end
end

local connect = {}

-- No connection is held beside those of the transactions.
function connect.open() return false end

function connect.close() end

function connect.event()
   local made = splash.connect()
   if not made then
      return splash.refuse()
   end
   splash.add(splash.OPENED, 1)
   local number = sysbench.rand.uniform(1, sysbench.opt.tables)
   local id = sysbench.rand.default(1, sysbench.opt.table_size)
   made:query(string.format("SELECT c FROM sbtest%d WHERE id=%d", number, id))
   made:disconnect()
end

-- A test puts functions of its own into these places, or leaves those of all tests.
local common = { thread_init = thread_init, thread_done = thread_done, prepare = sysbench.cmdline.commands.prepare }
local test, thread_init_of_test

-- sysbench's tests connect and prepare in one function. What fails with a connection is not a refusal.
local function open()
   local is_ready, problem = pcall(thread_init_of_test)
   if not is_ready and con ~= nil then
      error(problem, 0)
   end
   return con
end

local function load()
   local ours = { thread_init = thread_init, thread_done = thread_done }
   thread_init, thread_done = common.thread_init, common.thread_done
   sysbench.cmdline.commands.prepare = common.prepare
   if sysbench.opt.oltp_test == "connect" then
      test = connect
   else
      require(sysbench.opt.oltp_test)
      thread_init_of_test = thread_init
      test = { open = open, close = thread_done, event = event }
   end
   thread_init, thread_done = ours.thread_init, ours.thread_done
end

splash.workload {
   options = options,
   tables = function()
      local names = {}
      for number = 1, sysbench.opt.tables do
         names[number] = "sbtest" .. number
      end
      return names
   end,
   prepare = function()
      load()
      sysbench.cmdline.commands.prepare[1]()
   end,
   open = function()
      load()
      return test.open()
   end,
   event = function() return test.event() end,
   close = function() test.close() end,
}
