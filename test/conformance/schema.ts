import { Broken, shortened, skipUnless } from './check.ts';
import type { Line } from './line.ts';
import { xmlLibrary } from './xml.ts';

type Schema = { readonly text: string; readonly imports: ReadonlyMap<string, Buffer> };

const IMPORT = /(<(?:\w+:)?(?:import|include)\b[^>]*\bschemaLocation=")([^"]+)(")/g;

/**
 * The schema of a version as the deployment serves it, with the schemas that it imports.
 * @throws Skipped where one of those is not to be had
 */
export async function fetchSchema(line: Line, url: string): Promise<Schema> {
  const answer = await line.ask({ url });
  if (answer.status !== 200) throw new Broken(`${url} answers ${answer.status}`);
  const imports = new Map<string, Buffer>();
  for (const [, , location = ''] of answer.text.matchAll(IMPORT)) {
    const address = new URL(location, url).href;
    const imported = await line.ask({ url: address });
    skipUnless(
      imported.status === 200,
      `${address}, which the schema imports, answers ${imported.status}`,
    );
    imports.set(address, Buffer.from(imported.text));
  }
  const text = answer.text.replace(
    IMPORT,
    (_, head: string, location: string, end: string) => head + new URL(location, url).href + end,
  );
  return { text, imports };
}

/** Judges documents one after the other. @throws Broken naming the first violation */
export async function mustBeValid(
  schema: Schema,
  documents: ReadonlyMap<string, string>,
): Promise<void> {
  const xml = await xmlLibrary();
  const source = xml.XmlDocument.fromString(schema.text);
  xml.xmlRegisterInputProvider(new xml.XmlBufferInputProvider(Object.fromEntries(schema.imports)));
  let validator: InstanceType<typeof xml.XsdValidator>;
  try {
    validator = xml.XsdValidator.fromDoc(source);
  } finally {
    xml.xmlCleanupInputProvider();
    source.dispose();
  }
  try {
    for (const [name, text] of documents) {
      const document = xml.XmlDocument.fromString(text);
      try {
        validator.validate(document);
      } catch (thrown) {
        if (thrown instanceof xml.XmlError)
          throw new Broken(shortened(`${name}: ${thrown.message}`));
        throw thrown;
      } finally {
        document.dispose();
      }
    }
  } finally {
    validator.dispose();
  }
}
