import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Answer, Incoming } from '../base/http-message.ts';
import { getPackagePath } from '../base/package-files.ts';
import { makeJsonAnswer } from '../base/problem.ts';

type Examples = Readonly<Record<string, { readonly value: unknown }>>;
type Description = { readonly components: { readonly examples?: Examples } };

/**
 * Returns the OpenAPI description of an interface, with its address and with examples that can be
 * sent there.
 */
export function answerDescription({ addresses }: Incoming, of: 'service' | 'control'): Answer {
  const text = readFileSync(getPackagePath('mock-server', 'openapi', `${of}.json`), 'utf8')
    .replaceAll('{schema_base}', addresses.schemaBase)
    .replaceAll('{prefix}', addresses.prefix);
  const { components, ...description } = JSON.parse(text) as Description;
  const examples = components.examples && withDigests(components.examples);
  const url = of === 'service' ? addresses.baseUrl : addresses.controlUrl;
  return makeJsonAnswer(200, {
    ...description,
    components: { ...components, examples },
    servers: [{ url }],
  });
}

/** Adds `<name>Digest`, the digest of the file of `<name>`, which contains the addresses. */
function withDigests(examples: Examples): Examples {
  const filled = Object.entries(examples).map(([name, example]) => {
    const digested = examples[name.replace(/Digest$/, '')]?.value;
    const file =
      typeof digested === 'object' && digested !== null && 'file' in digested
        ? digested.file
        : undefined;
    if (!name.endsWith('Digest') || typeof file !== 'string') return [name, example];
    const digest = createHash('sha512').update(file).digest('base64');
    return [name, { ...example, value: `sha-512=:${digest}:` }];
  });
  return Object.fromEntries(filled) as Examples;
}
