/**
 * The least that a harvester can do: asks for page after page, and keeps the bytes of each in a
 * file, or its records in SQLite.
 */
import { appendFileSync } from 'node:fs';
import { openSqlite } from '../dist/src/base/disk/database.js';

const [endpoint, set, format, out] = process.argv.slice(2);
const keep = out.endsWith('.sqlite') ? openSqliteStore() : (text) => appendFileSync(out, text);
let query = `verb=ListRecords&metadataPrefix=${format}&set=${set}`;
while (query !== '') {
  const text = await (await fetch(`${endpoint}?${query}`)).text();
  keep(text);
  const token = /<resumptionToken[^>]*>([^<]+)</.exec(text)?.[1];
  query =
    token === undefined
      ? ''
      : `verb=ListRecords&resumptionToken=${encodeURIComponent(token.replaceAll('&amp;', '&'))}`;
}

function openSqliteStore() {
  const database = openSqlite(out);
  database.pragma('journal_mode = wal');
  database.exec('create table records (identifier text primary key, xml text not null)');
  const insert = database.prepare('insert into records values (?, ?)');
  return database.transaction((text) => {
    for (const [xml, identifier] of text.matchAll(/<record>.*?<identifier>([^<]*)<.*?<\/record>/gs))
      insert.run(identifier, xml);
  });
}
