import { readFileSync } from 'node:fs';
import type { Answer, Incoming } from './http-message.ts';
import { packagePath } from './package-files.ts';
import { json } from './problem.ts';

/** The OpenAPI description of an interface, with the address at which it is described. */
export function answerDescription({ addresses }: Incoming, of: 'service' | 'control'): Answer {
  const text = readFileSync(packagePath('mock-server', 'openapi', `${of}.json`), 'utf8');
  const url = of === 'service' ? addresses.baseUrl : addresses.controlUrl;
  return json(200, { ...(JSON.parse(text) as object), servers: [{ url }] });
}
