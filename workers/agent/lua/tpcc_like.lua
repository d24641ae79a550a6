-- Five transactions in the proportions of TPC-C on its nine tables, with fewer columns and no think times: not TPC-C.

package.path = debug.getinfo(1, "S").source:match("^@(.*/)") .. "?.lua;" .. package.path
local splash = require("splash")
local NEW_ORDERS = splash.counter("new_orders")
local ORDERS_BEFORE = splash.counter("orders.before")

local DISTRICTS = 10
local TABLES = {
   warehouse = "w_id INT, name VARCHAR(10), tax DECIMAL(4,4), ytd DECIMAL(14,2), PRIMARY KEY (w_id)",
   district = [[w_id INT, d_id INT, name VARCHAR(10), tax DECIMAL(4,4), ytd DECIMAL(14,2), next_o_id INT,
      PRIMARY KEY (w_id, d_id)]],
   customer = [[w_id INT, d_id INT, c_id INT, last VARCHAR(16), first VARCHAR(16), discount DECIMAL(4,4),
      balance DECIMAL(14,2), ytd_payment DECIMAL(14,2), payments INT, deliveries INT, data VARCHAR(250),
      PRIMARY KEY (w_id, d_id, c_id), KEY last (w_id, d_id, last, first)]],
   history = [[id BIGINT AUTO_INCREMENT, c_w_id INT, c_d_id INT, c_id INT, w_id INT, d_id INT, at DATETIME,
      amount DECIMAL(8,2), PRIMARY KEY (id)]],
   orders = [[w_id INT, d_id INT, o_id INT, c_id INT, entered DATETIME, carrier INT, lines_ INT,
      PRIMARY KEY (w_id, d_id, o_id), KEY customer (w_id, d_id, c_id, o_id)]],
   new_orders = "w_id INT, d_id INT, o_id INT, PRIMARY KEY (w_id, d_id, o_id)",
   order_line = [[w_id INT, d_id INT, o_id INT, line INT, i_id INT, supply_w_id INT, delivered DATETIME, quantity INT,
      amount DECIMAL(8,2), PRIMARY KEY (w_id, d_id, o_id, line)]],
   item = "i_id INT, name VARCHAR(24), price DECIMAL(6,2), data VARCHAR(50), PRIMARY KEY (i_id)",
   stock = [[w_id INT, i_id INT, quantity INT, ytd INT, orders INT, remote INT, data VARCHAR(50),
      PRIMARY KEY (w_id, i_id)]],
}

local uniform = sysbench.rand.uniform
local sql = string.format

local function last_name(number) return "NAME" .. number % 1000 end

-- As the specification draws customers and items: some come up far more often.
local function nurand(a, low, high) return (bit.bor(uniform(0, a), uniform(low, high)) + 42) % (high - low + 1) + low end

local function some_customer() return nurand(1023, 1, sysbench.opt.customers) end

-- ------------------------------------------------------------------ prepare

local function make_warehouse(con, w)
   local opt = sysbench.opt
   con:query(sql("INSERT INTO warehouse VALUES (%d,'w%d',0.1,%d)", w, w, 30000 * DISTRICTS))
   splash.fill(con, "stock", 1, opt.items, function(i)
      return sql("(%d,%d,%d,0,0,0,'%s')", w, i, uniform(10, 100), splash.text(30))
   end)
   splash.fill(con, "district", 1, DISTRICTS, function(d)
      return sql("(%d,%d,'d%d',0.1,30000,%d)", w, d, d, opt.customers + 1)
   end)
   for d = 1, DISTRICTS do
      splash.fill(con, "customer", 1, opt.customers, function(c)
         local name = last_name(c - 1)
         return sql("(%d,%d,%d,'%s','%s',0.1,-10,10,1,0,'%s')", w, d, c, name, splash.text(10), splash.text(200))
      end)
      -- One order of each customer; three in ten are not delivered yet.
      local undelivered = opt.customers - math.floor(opt.customers * 0.3) + 1
      splash.fill(con, "orders", 1, opt.customers, function(o)
         local carrier = o < undelivered and uniform(1, 10) or "NULL"
         return sql("(%d,%d,%d,%d,NOW(),%s,10)", w, d, o, o, carrier)
      end)
      splash.fill(con, "new_orders", undelivered, opt.customers, function(o) return sql("(%d,%d,%d)", w, d, o) end)
      splash.fill(con, "order_line", 1, opt.customers * 10, function(n)
         local o, line = math.floor((n - 1) / 10) + 1, (n - 1) % 10 + 1
         local delivered = o < undelivered and "NOW()" or "NULL"
         return sql("(%d,%d,%d,%d,%d,%d,%s,5,%d)", w, d, o, line, uniform(1, opt.items), w, delivered, uniform(1, 99))
      end)
   end
end

local function prepare()
   local opt = sysbench.opt
   local con = sysbench.sql.driver():connect()
   for name, columns in pairs(TABLES) do
      con:query(sql("CREATE TABLE IF NOT EXISTS %s (%s) ENGINE=InnoDB", name, columns))
   end
   if sysbench.tid == 0 then
      splash.fill(con, "item", 1, opt.items, function(i)
         return sql("(%d,'i%d',%.2f,'%s')", i, i, uniform(100, 10000) / 100, splash.text(30))
      end)
   end
   for w = sysbench.tid + 1, opt.warehouses, opt.threads do
      make_warehouse(con, w)
   end
end

-- ------------------------------------------------------------------ transactions

-- In a given share of 100 another warehouse, where there is one.
local function warehouse_near(w, share)
   local others = sysbench.opt.warehouses - 1
   if others == 0 or uniform(1, 100) > share then
      return w
   end
   local other = uniform(1, others)
   return other < w and other or other + 1
end

-- Items in rising order, so that two orders lock them in the same one.
local function draw_lines(w)
   local lines = {}
   for n = 1, uniform(5, 15) do
      lines[n] = { item = nurand(8191, 1, sysbench.opt.items), from = warehouse_near(w, 1), quantity = uniform(1, 10) }
   end
   table.sort(lines, function(a, b) return a.item < b.item or (a.item == b.item and a.from < b.from) end)
   return lines
end

local function new_order(w, d)
   local lines = draw_lines(w)
   local c = some_customer()
   splash.control("BEGIN")
   splash.row(sql(
      [[SELECT c.discount, c.last, w.tax FROM warehouse w JOIN customer c ON c.w_id = w.w_id
      WHERE w.w_id = %d AND c.d_id = %d AND c.c_id = %d]],
      w, d, c
   ))
   -- The hot row: one for each district.
   local o = tonumber((splash.row(sql("SELECT next_o_id, tax FROM district WHERE w_id=%d AND d_id=%d FOR UPDATE", w, d))))
   splash.write(sql("UPDATE district SET next_o_id = next_o_id + 1 WHERE w_id=%d AND d_id=%d", w, d))
   splash.write(sql("INSERT INTO orders VALUES (%d,%d,%d,%d,NOW(),NULL,%d)", w, d, o, c, #lines))
   splash.write(sql("INSERT INTO new_orders VALUES (%d,%d,%d)", w, d, o))
   for n, line in ipairs(lines) do
      local price = splash.row(sql("SELECT price, name, data FROM item WHERE i_id=%d", line.item))
      local where = sql("w_id=%d AND i_id=%d", line.from, line.item)
      local quantity = tonumber((splash.row("SELECT quantity, data FROM stock WHERE " .. where .. " FOR UPDATE")))
      local left = quantity - line.quantity
      splash.write(sql(
         "UPDATE stock SET quantity=%d, ytd=ytd+%d, orders=orders+1, remote=remote+%d WHERE %s",
         left < 10 and left + 91 or left, line.quantity, line.from == w and 0 or 1, where
      ))
      splash.write(sql(
         "INSERT INTO order_line VALUES (%d,%d,%d,%d,%d,%d,NULL,%d,%.2f)",
         w, d, o, n, line.item, line.from, line.quantity, line.quantity * tonumber(price)
      ))
   end
   -- One order in a hundred names an item that is not there.
   if uniform(1, 100) == 1 then
      splash.control("ROLLBACK")
   else
      splash.control("COMMIT")
      splash.add(NEW_ORDERS, 1)
   end
end

-- By number, or by name: the one in the middle of those who share it.
local function find_customer(w, d)
   if uniform(1, 100) <= 40 then
      return some_customer()
   end
   local name = last_name(nurand(255, 0, math.min(sysbench.opt.customers, 1000) - 1))
   local ids = splash.rows(sql(
      "SELECT c_id FROM customer WHERE w_id=%d AND d_id=%d AND last='%s' ORDER BY first", w, d, name
   ))
   return tonumber(ids[math.ceil(#ids / 2)][1])
end

local function payment(w, d)
   local amount = uniform(100, 500000) / 100
   local of_w = warehouse_near(w, 15)
   local of_d = of_w == w and d or uniform(1, DISTRICTS)
   splash.control("BEGIN")
   splash.write(sql("UPDATE warehouse SET ytd = ytd + %.2f WHERE w_id=%d", amount, w))
   splash.row(sql("SELECT name FROM warehouse WHERE w_id=%d", w))
   splash.write(sql("UPDATE district SET ytd = ytd + %.2f WHERE w_id=%d AND d_id=%d", amount, w, d))
   splash.row(sql("SELECT name FROM district WHERE w_id=%d AND d_id=%d", w, d))
   local c = find_customer(of_w, of_d)
   local where = sql("w_id=%d AND d_id=%d AND c_id=%d", of_w, of_d, c)
   splash.row("SELECT first, last, balance, data FROM customer WHERE " .. where .. " FOR UPDATE")
   splash.write(sql(
      "UPDATE customer SET balance=balance-%.2f, ytd_payment=ytd_payment+%.2f, payments=payments+1 WHERE %s",
      amount, amount, where
   ))
   splash.write(sql(
      "INSERT INTO history (c_w_id, c_d_id, c_id, w_id, d_id, at, amount) VALUES (%d,%d,%d,%d,%d,NOW(),%.2f)",
      of_w, of_d, c, w, d, amount
   ))
   splash.control("COMMIT")
end

local function order_status(w, d)
   local c = find_customer(w, d)
   splash.row(sql("SELECT balance, first, last FROM customer WHERE w_id=%d AND d_id=%d AND c_id=%d", w, d, c))
   local o = splash.row(sql(
      "SELECT o_id, carrier, entered FROM orders WHERE w_id=%d AND d_id=%d AND c_id=%d ORDER BY o_id DESC LIMIT 1", w, d, c
   ))
   if o then
      splash.read(sql("SELECT i_id, quantity, amount FROM order_line WHERE w_id=%d AND d_id=%d AND o_id=%s", w, d, o))
   end
end

local function delivery(w)
   local carrier = uniform(1, 10)
   splash.control("BEGIN")
   for d = 1, DISTRICTS do
      local in_district = sql("w_id=%d AND d_id=%d", w, d)
      local o = splash.row("SELECT o_id FROM new_orders WHERE " .. in_district .. " ORDER BY o_id LIMIT 1 FOR UPDATE")
      if o then
         local where = in_district .. " AND o_id=" .. o
         splash.write("DELETE FROM new_orders WHERE " .. where)
         -- Locking, since a plain read might not see yet what the first one saw.
         local c = splash.row("SELECT c_id FROM orders WHERE " .. where .. " FOR UPDATE")
         splash.write(sql("UPDATE orders SET carrier=%d WHERE %s", carrier, where))
         splash.write("UPDATE order_line SET delivered=NOW() WHERE " .. where)
         local amount = splash.row("SELECT SUM(amount) FROM order_line WHERE " .. where)
         splash.write(sql(
            "UPDATE customer SET balance=balance+%s, deliveries=deliveries+1 WHERE %s AND c_id=%s", amount, in_district, c
         ))
      end
   end
   splash.control("COMMIT")
end

local function stock_level(w, d)
   local o = tonumber((splash.row(sql("SELECT next_o_id FROM district WHERE w_id=%d AND d_id=%d", w, d))))
   splash.row(sql(
      [[SELECT COUNT(DISTINCT s.i_id) FROM order_line l JOIN stock s ON s.w_id = l.w_id AND s.i_id = l.i_id
      WHERE l.w_id=%d AND l.d_id=%d AND l.o_id >= %d AND l.o_id < %d AND s.quantity < %d]],
      w, d, o - 20, o, uniform(10, 20)
   ))
end

-- ------------------------------------------------------------------ the workload

local mix = { { 45, new_order }, { 88, payment }, { 92, order_status }, { 96, delivery }, { 100, stock_level } }
local drawn -- stays until it is done: what is tried again is the same transaction at the same place

local function draw()
   local place = uniform(1, 100)
   local found = 1
   while mix[found][1] < place do
      found = found + 1
   end
   return { run = mix[found][2], w = uniform(1, sysbench.opt.warehouses), d = uniform(1, DISTRICTS) }
end

local function orders() return tonumber(splash.setup("SELECT SUM(next_o_id - 1) FROM district")[1][1]) end

splash.workload {
   options = {
      warehouses = { "warehouses", 1 },
      items = { "items; the specification has 100000", 1000 },
      customers = { "customers of each district; the specification has 3000", 100 },
   },
   tables = function()
      local names = {}
      for name in pairs(TABLES) do
         names[#names + 1] = name
      end
      return names
   end,
   prepare = prepare,
   start = function() splash.add(ORDERS_BEFORE, orders()) end,
   event = function()
      drawn = drawn or draw()
      drawn.run(drawn.w, drawn.d)
      drawn = nil
   end,
   counts = { "new_orders" },
   final = function()
      local counted, found = splash.total("new_orders"), orders() - splash.total("orders.before")
      local label = sql("the client counted %d new orders, the districts %d", counted, found)
      splash.check("new_orders", label, counted, found)
   end,
}
