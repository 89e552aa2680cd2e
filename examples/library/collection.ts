// A collection management system that reports its finds from its own database, each of them once.
// Run it as often as you like, kill it in the middle: the outbox knows what was sent. The
// identifiers come back into the collection's own table.
import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { type Find, openFindOutbox } from 'pas-finds/outbox';

const address = process.env['PAS_SERVICE'] ?? 'http://127.0.0.1:8099';
const password = process.env['PAS_PASSWORD'] ?? '';
const database = new Database('collection.sqlite');
database.exec(readFileSync('collection.sql', 'utf8'));

type Row = {
  inventory: string;
  project: string;
  found: string;
  depth: number;
  place: string;
  lon: number;
  lat: number;
};

function toFind(row: Row): Find {
  return {
    localId: row.inventory,
    elements: {
      stav: 2,
      projekt: { id: row.project, text: row.project },
      datum_nalezu: row.found,
      hloubka: row.depth,
      lokalizace: row.place,
      geom_system: '4326',
      geom_wkt: `POINT (${row.lon} ${row.lat})`,
      nalezce: { id: ':tba', text: 'Dvořák, Antonín' },
      okolnosti: { id: 'HES-000561', text: 'detektor kovů' },
      obdobi: { id: 'HES-000295', text: 'vrcholný středověk' },
      druh_nalezu: { id: 'HES-000622', text: 'nůž' },
      specifikace: { id: 'HES-000964', text: 'železo' },
      pristupnost: { id: 'HES-000866', text: 'badatel' },
    },
    photos: [],
  };
}

await using outbox = await openFindOutbox({
  file: 'outbox.sqlite',
  service: {
    baseUrl: address,
    oaiBase: address,
    schemaBase: process.env['PAS_SCHEMA_BASE'] ?? `${address}/schema/svc`,
    username: process.env['PAS_USERNAME'] ?? 'archaeologist',
    password,
  },
});

const rows = database.prepare('select * from finds').all() as Row[];
const { issues } = await outbox.add(rows.map(toFind));
for (const issue of issues) console.error(`${issue.severity}: ${issue.find}: ${issue.message}`);

// An earlier run may have been killed while requests were under way: look whether the service has
// those finds.
let pushed = await outbox.push();
if (outbox.entries().some(({ state }) => state === 'uncertain')) {
  for (const { entry, verdict, reason } of await outbox.reconcile())
    console.error(`${entry.find}: ${verdict}; ${reason}`);
  pushed = await outbox.push();
}

const remember = database.prepare('update finds set ident_cely = ? where inventory = ?');
const entries = outbox.entries();
for (const { find, state, identCely } of entries)
  if (state === 'accepted') remember.run(identCely, find);
const accepted = entries.filter(({ state }) => state === 'accepted').length;
console.log(`${accepted} of ${entries.length} finds are at the service.`);
if (pushed.stopCause !== undefined)
  console.error(`Stopped: ${pushed.stopCause.kind}. Run it again later.`);
