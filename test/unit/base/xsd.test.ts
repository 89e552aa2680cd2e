import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  compileSchema,
  fillPlaceholders,
  MAX_DOCUMENT_BYTES,
  type Validation,
  type Validator,
} from '../../../src/base/xml/xsd.ts';
import { inWords } from '../../support/in-words.ts';
import { listen } from '../../support/raw-server.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const XS = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"';

const recipeSchema = `<?xml version="1.0" encoding="UTF-8"?>
<xs:schema ${XS} xmlns:u="urn:units" targetNamespace="urn:recipe" elementFormDefault="qualified">
  <xs:import namespace="urn:units" schemaLocation="../units.xsd"/>
  <xs:element name="recipe">
    <xs:complexType>
      <xs:sequence>
        <xs:element name="title" type="xs:string"/>
        <xs:element name="minutes" type="xs:integer" maxOccurs="unbounded"/>
      </xs:sequence>
      <xs:attribute ref="u:unit"/>
    </xs:complexType>
  </xs:element>
</xs:schema>`;

const unitsSchema = `<xs:schema ${XS} targetNamespace="urn:units">
  <xs:attribute name="unit"><xs:simpleType><xs:restriction base="xs:string"><xs:enumeration value="g"/></xs:restriction></xs:simpleType></xs:attribute>
</xs:schema>`;

const main = { url: 'food/recipe.xsd', bytes: Buffer.from(recipeSchema) };
const units = { url: 'units.xsd', bytes: Buffer.from(unitsSchema) };

const goodRecipe =
  '<r:recipe xmlns:r="urn:recipe"><r:title>Soup</r:title><r:minutes>20</r:minutes></r:recipe>';

let validator: Validator;
let folder: string;

beforeAll(async () => {
  validator = await compileSchema(main, [units]);
  folder = tempFolder();
});

afterAll(() => validator[Symbol.dispose]());

function check(document: string | Buffer): Validation {
  return validator.validate(Buffer.from(document));
}

describe('a document', () => {
  test('shows all its violations at once, each with line, element and a message without our namespaces', () => {
    const document = `<recipe xmlns="urn:recipe" xmlns:u="urn:units" u:unit="kg">
  <title>Soup</title>
  <minutes>twenty</minutes>
  <minutes
    hurry="yes">20</minutes>
  <pan/>
</recipe>`;
    const { wellFormed, violations } = check(document);
    expect(wellFormed).toBe(true);
    expect(violations.map(({ line, element }) => [line, element])).toEqual([
      [1, 'recipe'],
      [3, 'minutes'],
      [5, 'minutes'],
      [6, 'pan'],
    ]);
    expect(violations[0]?.message).toContain("attribute 'unit'");
    expect(violations[1]?.message).toBe(
      "Element 'minutes': 'twenty' is not a valid value of the atomic type 'xs:integer'.",
    );
    expect(violations[3]?.message).toBe(
      "Element 'pan': This element is not expected. Expected is ( minutes ).",
    );
  });

  test('of another namespace is reported with the namespace', () => {
    const { violations } = check('<recipe xmlns="urn:cookbook"/>');
    expect(violations).toHaveLength(1);
    expect(violations[0]).toMatchObject({ line: 1, element: 'recipe' });
    expect(violations[0]?.message).toContain('{urn:cookbook}recipe');
  });

  test('keeps its line numbers beyond 65,535', () => {
    const document = `<recipe xmlns="urn:recipe"><title/>${'\n'.repeat(70_000)}<minutes>x</minutes></recipe>`;
    expect(check(document).violations).toMatchObject([{ line: 70_001, element: 'minutes' }]);
  });

  test('may be UTF-16 or Windows-1250, as declared', () => {
    const inWindows1250 = Buffer.from('<?xml version="1.0" encoding="windows-1250"?>#', 'latin1');
    const body = Buffer.from(goodRecipe.replace('Soup', 'Pol\xe9vka \x9e'), 'latin1');
    expect(check(Buffer.concat([inWindows1250.subarray(0, -1), body]))).toEqual({
      wellFormed: true,
      violations: [],
    });
    expect(check(Buffer.from(`\ufeff${goodRecipe}`, 'utf16le'))).toEqual({
      wellFormed: true,
      violations: [],
    });
  });

  test('with nine megabytes of text is still read', () => {
    expect(check(goodRecipe.replace('Soup', 'x'.repeat(9_000_000)))).toEqual({
      wellFormed: true,
      violations: [],
    });
  });
});

describe('bytes that are not a document', () => {
  test.each([
    ['nothing', '', 1],
    ['a tag that is not closed', '<recipe xmlns="urn:recipe">\n<title>\n</recipe>', 3],
    ['an entity that nobody declared', '<recipe>&unknown;</recipe>', 1],
    ['tags nested a thousand deep', '<a>'.repeat(1000) + '</a>'.repeat(1000), 1],
    ['an encoding that does not exist', '<?xml version="1.0" encoding="klingon"?><recipe/>', 1],
  ])('%s: not well-formed, with the line', (_, document, line) => {
    const { wellFormed, violations } = check(document);
    expect(wellFormed).toBe(false);
    expect(violations[0]?.line).toBe(line);
    expect(violations[0]?.message).toMatch(/\S/);
  });

  test('bytes that contradict their declared encoding are refused', () => {
    const { wellFormed, violations } = check(
      Buffer.from(goodRecipe.replace('Soup', 'Pol\xe9vka'), 'latin1'),
    );
    expect(wellFormed).toBe(false);
    expect(violations[0]?.message).toContain('encoding');
  });

  test('a single text over ten megabytes is refused, without advice for programmers', () => {
    const { wellFormed, violations } = check(goodRecipe.replace('Soup', 'x'.repeat(11_000_000)));
    expect(wellFormed).toBe(false);
    expect(violations[0]?.message).toBe('Resource limit exceeded: Text node too long');
  });

  test('a document over the limit is refused before it is parsed', () => {
    const { wellFormed, violations } = check(Buffer.alloc(MAX_DOCUMENT_BYTES + 1, ' '));
    expect(wellFormed).toBe(false);
    expect(inWords(violations)).toEqual([
      { line: null, message: expect.stringContaining(String(MAX_DOCUMENT_BYTES + 1)) },
    ]);
  });
});

describe('a document type declaration', () => {
  const refused = {
    wellFormed: false,
    violations: [{ line: null, message: expect.stringContaining('DOCTYPE') }],
  };

  test('is refused, even an empty one', () => {
    expect(inWords(check(`<!DOCTYPE recipe>${goodRecipe}`))).toEqual(refused);
    expect(
      inWords(
        check(`<!DOCTYPE recipe [<!ENTITY soup "Soup">]>${goodRecipe.replace('Soup', '&soup;')}`),
      ),
    ).toEqual(refused);
  });

  test('never makes a file be read', () => {
    const secret = join(folder, 'secret.txt');
    writeFileSync(secret, 'hunter2');
    const address = pathToFileURL(secret).href;
    for (const document of [
      `<!DOCTYPE r [<!ENTITY s SYSTEM "${address}">]>${goodRecipe.replace('20', '&s;')}`,
      `<!DOCTYPE r [<!ENTITY % s SYSTEM "${address}"> %s;]>${goodRecipe}`,
      `<!DOCTYPE r SYSTEM "${address}">${goodRecipe}`,
    ]) {
      const answer = check(document);
      expect(inWords(answer)).toEqual(refused);
      expect(JSON.stringify(answer)).not.toContain('hunter2');
    }
  });
});

test('a schema location in a document is never fetched', async () => {
  let requests = 0;
  await using server = await listen(
    createServer((_, response) => {
      requests += 1;
      response.end(recipeSchema);
    }),
  );
  const hint = `xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="urn:other ${server.url}/other.xsd"`;
  expect(check(`<o:other xmlns:o="urn:other" ${hint}/>`).violations).toHaveLength(1);
  expect(check(goodRecipe.replace('<r:recipe', `<r:recipe ${hint}`)).violations).toEqual([]);
  expect(requests).toBe(0);
});

describe('a schema', () => {
  test('that imports a missing schema is refused, with its name', async () => {
    await expect(compileSchema(main, [])).rejects.toThrow(
      /food\/recipe\.xsd cannot be used: .*units\.xsd/s,
    );
  });

  test('that is invalid is refused', async () => {
    const bytes = Buffer.from(recipeSchema.replace('xs:integer', 'xs:number'));
    await expect(compileSchema({ ...main, bytes }, [units])).rejects.toThrow(
      /food\/recipe\.xsd cannot be used: .*number/s,
    );
    await expect(compileSchema({ ...main, bytes: Buffer.from('<xs:schema') }, [])).rejects.toThrow(
      /food\/recipe\.xsd cannot be used/,
    );
  });

  test('can be used beside another, and after the other is released', async () => {
    const other = await compileSchema({ url: 'units.xsd', bytes: units.bytes }, []);
    expect(other.validate(Buffer.from(goodRecipe)).violations).toHaveLength(1);
    other[Symbol.dispose]();
    other[Symbol.dispose]();
    expect(check(goodRecipe).violations).toEqual([]);
    expect(() => other.validate(Buffer.from(goodRecipe))).toThrow(/disposed/);
  });

  test('releases its memory after every document, good or bad', () => {
    const large = goodRecipe.replace('Soup', 'x'.repeat(500_000));
    const documents = [
      large,
      large.replace('20', 'x'),
      `<!DOCTYPE r>${large}`,
      large.slice(0, -1),
    ].map((text) => Buffer.from(text));
    const validateAll = () => documents.map((document) => validator.validate(document));
    validateAll();
    const before = process.memoryUsage().external;
    for (let round = 0; round < 250; round++) validateAll();
    // 1,000 documents of half a megabyte: kept, they would hold 500 MB.
    expect(process.memoryUsage().external - before).toBeLessThan(50_000_000);
  });
});

describe('placeholders', () => {
  const fill = (template: string, values: Record<string, string>) =>
    fillPlaceholders(Buffer.from(template), values).toString();

  test('are filled everywhere, and the value is escaped', () => {
    expect(fill('<a b="{base}/1/" c="{base}"/>', { base: 'http://x/?a=1&b="<$&' })).toBe(
      '<a b="http://x/?a=1&amp;b=&quot;&lt;$&amp;/1/" c="http://x/?a=1&amp;b=&quot;&lt;$&amp;"/>',
    );
  });

  test('are not confused with the repetitions of a pattern', () => {
    expect(fill('<xs:pattern value="\\d{6}{name}"/>', { name: 'x' })).toBe(
      '<xs:pattern value="\\d{6}x"/>',
    );
  });

  test('without a value are an error', () => {
    expect(() => fill('<a b="{base}"/>', { bass: 'x' })).toThrow(/\{base\}/);
  });
});
