import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/own-files.ts';
import {
  compileSchema,
  fillPlaceholders,
  type SchemaFile,
  type Validator,
} from '../../src/base/xml/xsd.ts';

export type SchemaVersion = '2.0' | '2.1' | '2.2';
export const SCHEMA_VERSIONS: readonly SchemaVersion[] = ['2.0', '2.1', '2.2'];

/** Address of the schemas of the hand-typed documents. */
export const SCHEMA_BASE = 'https://schemas.example/svc';

/** The schema of one version, for documents whose root is `svc` unless said otherwise. */
export function entityValidator(version: SchemaVersion, prefix = 'svc'): Promise<Validator> {
  return compileSchema(schemaFile(`svc/${version}/svc.xsd`, { prefix }), [
    schemaFile('xml/xml.xsd'),
  ]);
}

/** A whole answer of the harvesting interface, records included. */
export function answerValidator(version: SchemaVersion): Promise<Validator> {
  const parts = [
    'oai/OAI-PMH.xsd',
    'oai/oai_dc.xsd',
    'oai/simpledc.xsd',
    'oai/rightsManifest.xsd',
    'xml/xml.xsd',
  ];
  const imports = [
    ...parts.map((url) => schemaFile(url)),
    schemaFile(`svc/${version}/svc.xsd`, { prefix: 'svc' }),
  ];
  return compileSchema(schemaFile('oai/response.xsd', { version }), imports);
}

/** "line element: message" for each violation; an empty list means that the document is valid. */
export function faults(validator: Validator, document: string): string[] {
  const { violations } = validator.validate(Buffer.from(document));
  return violations.map(({ line, element, message }) => `${line} ${element}: ${message}`);
}

const validators = new Map(
  await Promise.all(
    SCHEMA_VERSIONS.map(async (version) => [version, await entityValidator(version)] as const),
  ),
);

/** The faults of a document, typed for 2.2, in the eyes of any version. */
export function check(document: string, version: SchemaVersion = '2.2'): string[] {
  const validator = validators.get(version);
  if (validator === undefined) throw new Error(`no validator for ${version}`);
  return faults(validator, document.replaceAll('/svc/2.2/', `/svc/${version}/`));
}

function schemaFile(url: string, values: Record<string, string> = {}): SchemaFile {
  const bytes = readFileSync(join(packageRoot, 'schemas', url));
  return { url, bytes: fillPlaceholders(bytes, { schema_base: SCHEMA_BASE, ...values }) };
}
