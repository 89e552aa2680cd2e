/**
 * The least that an import can do: reads a table of CSV and puts its rows into SQLite, in one
 * transaction.
 */
import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse';
import { openSqlite } from '../dist/src/base/disk/database.js';

const [table, out] = process.argv.slice(2);
const database = openSqlite(out);
database.pragma('journal_mode = wal');
database.exec('create table rows (id integer primary key, cells text not null)');
const insert = database.prepare('insert into rows (cells) values (?)');
database.exec('begin');
for await (const cells of createReadStream(table).pipe(parse())) insert.run(JSON.stringify(cells));
database.exec('commit');
