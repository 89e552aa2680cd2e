import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasErrors } from '../../../src/base/issue.ts';
import { type FindSchema, openFindSchema } from '../../../src/finds/document.ts';
import type { Find } from '../../../src/finds/find.ts';
import { validateFind } from '../../../src/finds/rules.ts';
import { aFind, lookupTerm, PROFILE } from './a-find.ts';

let schema: FindSchema;
beforeAll(async () => {
  schema = await openFindSchema(PROFILE);
});

const validate = (find: Find) => validateFind(find, { schema, today: '2024-11-20', lookupTerm });

describe('a find and its document', () => {
  test('the schema is not consulted about what the rules refuse, so nothing is reported twice', () => {
    const { issues } = validate(aFind({ projekt: undefined }));
    expect(issues).toMatchObject([{ rule: 'required', element: 'projekt' }]);
  });

  test('a character that XML cannot contain is an issue, and the document can still be checked', () => {
    const { document, issues } = validate(aFind({ poznamka: 'a\u0001b' }));
    expect(issues).toMatchObject([
      { rule: 'text-characters', element: 'poznamka', severity: 'error' },
    ]);
    expect(document.toString()).toContain('a\uFFFDb');
  });

  test('any text that the rules accept gives a document that the schema accepts and that contains the text', () => {
    const anyText = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.string({ unit: 'grapheme', maxLength: 30 }),
    );
    fc.assert(
      fc.property(anyText, anyText, (note, place) => {
        const { document, issues } = validate(
          aFind({ stav: 1, poznamka: note, lokalizace: place }),
        );
        if (!hasErrors(issues)) expect(schema.check(document)).toEqual([]);
        expect(
          document.equals(validate(aFind({ stav: 1, poznamka: note, lokalizace: place })).document),
        ).toBe(true);
      }),
    );
  });
});
