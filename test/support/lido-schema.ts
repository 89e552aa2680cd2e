import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileSchema, type SchemaFile, type Validator } from '../../src/xml/xsd.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** LIDO 1.1, as far as pas writes it. */
export function lidoValidator(): Promise<Validator> {
  const imports = [
    schemaFile('lido/gml-part.xsd', 'test/fixtures/lido/gml-part.xsd'),
    schemaFile('xml/xml.xsd', 'schemas/xml/xml.xsd'),
  ];
  return compileSchema(
    schemaFile('lido/lido-1.1-part.xsd', 'test/fixtures/lido/lido-1.1-part.xsd'),
    imports,
  );
}

function schemaFile(url: string, path: string): SchemaFile {
  return { url, bytes: readFileSync(join(ROOT, path)) };
}
