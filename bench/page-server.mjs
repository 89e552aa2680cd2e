/**
 * A harvesting interface that answers from memory: the pages of a list, read once from another
 * server before it is ready. Nothing has changed since, unless it ignores `from`. For measuring a
 * client, not for testing one.
 */
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

const { values: flags } = parseArgs({
  options: {
    source: { type: 'string' },
    set: { type: 'string' },
    format: { type: 'string' },
    'ignore-from': { type: 'boolean', default: false },
  },
});
const endpoint = `${flags.source}/2.2/oai`;
const NOTHING =
  '<?xml version="1.0" encoding="UTF-8"?>\n<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><responseDate>2025-06-18T08:00:00Z</responseDate><request>http://127.0.0.1/</request><error code="noRecordsMatch"/></OAI-PMH>';

const ask = async (query) => Buffer.from(await (await fetch(`${endpoint}?${query}`)).arrayBuffer());
const answers = { Identify: await ask('verb=Identify'), ListSets: await ask('verb=ListSets') };
const pages = new Map();
let first = Buffer.alloc(0);
for (let token; token !== ''; ) {
  const page = await ask(
    token === undefined
      ? `verb=ListRecords&metadataPrefix=${flags.format}&set=${flags.set}`
      : `verb=ListRecords&resumptionToken=${encodeURIComponent(token)}`,
  );
  if (token === undefined) first = page;
  else pages.set(token, page);
  token =
    /<resumptionToken[^>]*>([^<]+)</.exec(page.toString('utf8', page.length - 1000))?.[1] ?? '';
}

let listRequests = 0;
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
  if (pathname === '/requests') return response.end(String(listRequests));
  const verb = searchParams.get('verb') ?? '';
  const token = searchParams.get('resumptionToken');
  response.setHeader('content-type', 'text/xml;charset=UTF-8');
  if (verb in answers) return response.end(answers[verb]);
  listRequests++;
  if (token !== null) return response.end(pages.get(token));
  response.end(searchParams.has('from') && !flags['ignore-from'] ? NOTHING : first);
});
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const base = `http://127.0.0.1:${port}`;
  console.log(
    JSON.stringify({ base_url: base, oai_base: base, schema_base: `${base}/schema/svc` }),
  );
});
