import { beforeAll, describe, expect, test } from 'vitest';
import { ConfigError } from '../../../src/base/errors.ts';
import { buildDocument, type FindSchema, openFindSchema } from '../../../src/finds/document.ts';
import { aFind, PROFILE } from './a-find.ts';

let schema: FindSchema;
beforeAll(async () => {
  schema = await openFindSchema(PROFILE);
});

function checkChanged(from: string, to: string) {
  const good = buildDocument(aFind(), PROFILE).toString();
  expect(good).toContain(from);
  return schema.check(Buffer.from(good.replace(from, to)));
}

describe('a schema violation is explained, with element and line', () => {
  test.each([
    [
      'an element out of order',
      '<svc:hloubka>25</svc:hloubka>',
      '<svc:poznamka>25</svc:poznamka>',
      'okolnosti',
      'Expected is one of ( ',
    ],
    [
      'a word for a number',
      '<svc:hloubka>25<',
      '<svc:hloubka>hluboko<',
      'hloubka',
      "'hluboko' is not a valid value of the atomic type 'xs:integer'",
    ],
    ['no id', ' id="C-202400101"', '', 'projekt', "The attribute 'id' is required but missing"],
    [
      'a wrong EPSG',
      'EPSG="4326"',
      'EPSG="WGS"',
      'geom_wkt',
      "attribute 'EPSG': 'WGS' is not a valid value",
    ],
    ['a missing element', '<svc:stav>3</svc:stav>', '', 'predano', 'Expected is ( stav )'],
  ])('%s', (_, from, to, element, message) => {
    const issues = checkChanged(from, to);
    expect(issues[0]).toMatchObject({
      rule: 'schema',
      severity: 'error',
      element,
      message: expect.stringContaining(message),
    });
    expect(issues[0]?.line).toBeGreaterThan(3);
  });

  test('a root of another version', () => {
    const issues = checkChanged(
      'xmlns:svc="https://schema.example.org/svc/2.2/"',
      'xmlns:svc="https://schema.example.org/svc/1.0/"',
    );
    expect(issues).toMatchObject([
      {
        rule: 'schema',
        element: 'svc',
        message: expect.stringContaining('No matching global declaration'),
      },
    ]);
  });
});

test.each(['9.9', '../2.2', ''])(
  'a schema version that pas does not have, "%s", is a configuration error',
  async (schemaVersion) => {
    await expect(openFindSchema({ ...PROFILE, schemaVersion })).rejects.toThrow(ConfigError);
  },
);
