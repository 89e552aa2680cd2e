/**
 * A harvesting interface with any number of projects, or of vocabulary terms, that costs little to
 * ask: one page of a hundred, again and again, with other identifiers. `/busy` says for how many
 * milliseconds it worked. For measuring a client, not for testing one.
 */
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

const { values: flags } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    set: { type: 'string', default: 'projekt' },
  },
});
const total = Number(flags.records);
const PAGE_SIZE = 100;
const FIRST_MS = Date.UTC(2024, 0, 1);

const history = (n) =>
  `<svc:historie><svc:id>hist-${n}</svc:id><svc:datum_zmeny>2024-04-13T18:00:00.350000+02:00</svc:datum_zmeny><svc:uzivatel id="U-000409">U-000409</svc:uzivatel><svc:typ_zmeny>SN0${n}</svc:typ_zmeny></svc:historie>`;
const PROJECT = `<metadata><svc:svc xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:svc="https://schemas.example/svc/2.2/" xsi:schemaLocation="https://schemas.example/svc/2.2/ https://schemas.example/svc/2.2/svc.xsd"><svc:projekt><svc:ident_cely>IDENT</svc:ident_cely><svc:stav>6</svc:stav><svc:typ_projektu xml:lang="cs" id="HES-001138">průzkum</svc:typ_projektu><svc:okres xml:lang="cs" id="ruian-3701">Blansko</svc:okres><svc:vedouci_projektu id="OS-000512">Křížová, Lenka</svc:vedouci_projektu><svc:organizace xml:lang="cs" id="ORG-000091">Muzeum Moravského krasu</svc:organizace><svc:oznaceni_stavby>Povrchový průzkum polí a lesních okrajů mezi obcemi, opakovaný po orbě</svc:oznaceni_stavby><svc:pristupnost_pom xml:lang="cs" id="HES-000867">archeolog</svc:pristupnost_pom><svc:geom_system>5514</svc:geom_system><svc:chranene_udaje>HTTP/1.1 403 Forbidden</svc:chranene_udaje>${[1, 2, 3, 4].map(history).join('')}${Array.from({ length: 6 }, (_, n) => `<svc:samostatny_nalez id="IDENT-N0000${n}">IDENT-N0000${n}</svc:samostatny_nalez>`).join('')}</svc:projekt></svc:svc></metadata>`;

const TERM = `<metadata><svc:svc xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:svc="https://schemas.example/svc/2.2/" xsi:schemaLocation="https://schemas.example/svc/2.2/ https://schemas.example/svc/2.2/svc.xsd"><svc:heslo><svc:ident_cely>IDENT</svc:ident_cely><svc:nazev_heslare>predmet_druh</svc:nazev_heslare><svc:heslo>WORD spona IDENT</svc:heslo><svc:heslo_en>WORD brooch IDENT</svc:heslo_en><svc:popis>Věc z kovu, kterou se spínal oděv; druh WORD</svc:popis><svc:zkratka>sp</svc:zkratka><svc:razeni>1</svc:razeni></svc:heslo></svc:svc></metadata>`;
const WORDS = [
  'přezka',
  'jehla',
  'nůž',
  'hrot',
  'nádoba',
  'kachel',
  'závaží',
  'přeslen',
  'klíč',
  'zvonek',
];

const SETS = {
  projekt: { setSpec: 'projekt', ident: (n) => `C-${900_000_000 + n}`, metadata: () => PROJECT },
  heslo: {
    setSpec: 'heslo:predmet_druh',
    ident: (n) => `HES-${900_000 + n}`,
    metadata: (n) => TERM.replaceAll('WORD', WORDS[n % WORDS.length]),
  },
};
const { setSpec, ident: getShortIdentifier, metadata } = SETS[flags.set];

function envelope(inner) {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><responseDate>2025-06-18T08:00:00Z</responseDate><request>http://127.0.0.1/</request>\n${inner}</OAI-PMH>`;
}

function page(start) {
  const end = Math.min(start + PAGE_SIZE, total);
  let records = '';
  for (let n = start; n < end; n++) {
    const ident = getShortIdentifier(n);
    const datestamp = new Date(FIRST_MS - Math.floor(n / 10) * 1000).toISOString().slice(0, 19);
    records += `<record><header><identifier>https://harvest.example.org/id/${ident}</identifier><datestamp>${datestamp}Z</datestamp><setSpec>${setSpec}</setSpec></header>${metadata(n).replaceAll('IDENT', ident)}</record>\n`;
  }
  const next = end < total ? String(end) : '';
  return envelope(
    `<ListRecords>${records}<resumptionToken completeListSize="${total}" cursor="${start}">${next}</resumptionToken></ListRecords>`,
  );
}

function answer(query) {
  switch (query.get('verb')) {
    case 'Identify':
      return envelope('<Identify><granularity>YYYY-MM-DDThh:mm:ssZ</granularity></Identify>');
    case 'ListSets':
      return envelope(`<ListSets><set><setSpec>${flags.set}</setSpec></set></ListSets>`);
    default:
      // Nothing changes while it is read.
      if (query.has('from')) return envelope('<error code="noRecordsMatch"/>');
      return page(Number(query.get('resumptionToken') ?? 0));
  }
}

let busyMs = 0;
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
  if (pathname === '/busy') return response.end(String(busyMs));
  const startedMs = performance.now();
  response.setHeader('content-type', 'text/xml;charset=UTF-8');
  response.end(answer(searchParams));
  busyMs += performance.now() - startedMs;
});
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const base = `http://127.0.0.1:${port}`;
  console.log(
    JSON.stringify({ base_url: base, oai_base: base, schema_base: `${base}/schema/svc` }),
  );
});
