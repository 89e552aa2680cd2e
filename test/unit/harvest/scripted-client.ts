import { type OaiClient, openOaiClient } from '../../../src/harvest/client.ts';
import type { OaiCredentials } from '../../../src/harvest/send-request.ts';
import type { Exchange, HttpResponse } from '../../../src/service/http/exchange.ts';
import { OAI_BASE, scripted } from '../../support/scripted-oai.ts';

/** A harvesting client whose service says what the script has. */
export function makeClient(
  exchange: Exchange,
  credentials: OaiCredentials = { kind: 'none' },
  endpoint: 'versioned' | 'generic' = 'versioned',
): OaiClient {
  return openOaiClient({
    oaiBase: OAI_BASE,
    ...(endpoint === 'generic' ? {} : { version: '2.2' }),
    exchange,
    credentials,
  });
}

export const RECORDS = { metadataPrefix: 'oai_svc', set: 'heslo' } as const;

/** The first page of the records, as a client reads it of this answer. */
export function readPage(
  answer: HttpResponse | string | Error,
): ReturnType<OaiClient['listRecords']> {
  return makeClient(scripted(answer)).listRecords(RECORDS);
}
