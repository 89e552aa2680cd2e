// Prints every period of the service's vocabulary, with its identifier.
import { openHarvester } from 'pas-finds/oai-client';

await using harvester = openHarvester({
  oaiBase: process.env['OAI_BASE'] ?? 'http://127.0.0.1:8099',
});
for await (const record of harvester.records({ metadataPrefix: 'oai_svc', set: 'heslo:obdobi' })) {
  if (!record.header.deleted) console.log(JSON.stringify(harvester.json(record)));
}
