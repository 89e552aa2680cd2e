import { type OaiClient, openOaiClient } from '../../src/oai/client.ts';
import type { OaiCredentials } from '../../src/oai/send-request.ts';
import { OAI_BASE, type Script } from './scripted-oai.ts';

/** A harvesting client whose service says what the script has. */
export function makeClient(
  exchange: Script,
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
