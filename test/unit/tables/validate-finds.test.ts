import { expect, test } from 'vitest';
import { planEdits } from '../../../src/cli/interview/edit-find.ts';
import { openFindSchema } from '../../../src/finds/document.ts';
import type { Find } from '../../../src/finds/find.ts';
import { validateFind } from '../../../src/finds/rules.ts';
import { makePreparedDocument } from '../../../src/outbox/changes/enqueue-finds.ts';
import { findImportOfFind } from '../../../src/outbox/entry-queries.ts';
import type { PreparedDocument } from '../../../src/outbox/intents.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { findByLocalId } from '../../../src/outbox/stored-finds.ts';
import { recordFindWish, recordNewFind } from '../../../src/outbox/wishes.ts';
import { validateAndRenewFinds } from '../../../src/tables/validate-finds.ts';
import { NO_PLACE, tempOutbox } from '../../support/temp-outbox.ts';
import { aFind, lookupTerm, PROFILE } from '../finds/a-find.ts';

const schema = await openFindSchema(PROFILE);
const KNOWN = { schema, today: '2024-11-20', lookupTerm };

const DRAFT: PreparedDocument = { document: null, issues: [] };

function storeDraft(outbox: Outbox, { localId, elements }: Find): string {
  return recordNewFind(outbox, { localId, elements, ...NO_PLACE }, DRAFT);
}

function edit(outbox: Outbox, { localId, elements }: Find, prepared: PreparedDocument): void {
  const stored = findByLocalId(outbox, localId);
  if (stored === undefined) throw new Error('the find is not stored');
  recordFindWish(outbox, stored, { ...stored.wish, elements }, prepared);
}

test('a find that changes during validation is validated again, and no older document returns', () => {
  using outbox = tempOutbox();
  const find = aFind();
  const findId = storeDraft(outbox, find);
  const edited: Find = { ...find, elements: { ...find.elements, hloubka: 99 } };
  let isFirst = true;
  const beside: Outbox = {
    ...outbox,
    change: (work) => {
      const entry = findImportOfFind(outbox, findId);
      if (isFirst && entry !== undefined) {
        isFirst = false;
        edit(outbox, edited, makePreparedDocument(validateFind(edited, KNOWN)));
      }
      return outbox.change(work);
    },
  };
  const request = { finds: undefined, documents: [], terms: undefined, onProgress: () => {} };
  expect(validateAndRenewFinds(beside, KNOWN, request)).toMatchObject({ valid: 1, invalid: 0 });
  expect(isFirst).toBe(false);
  expect(findImportOfFind(outbox, findId)?.document?.toString('utf8')).toContain(
    '<svc:hloubka>99</svc:hloubka>',
  );
});

test('an edit of a find that another pas has changed since is refused', () => {
  using outbox = tempOutbox();
  const find = aFind();
  storeDraft(outbox, find);
  const stored = findByLocalId(outbox, find.localId);
  if (stored === undefined) throw new Error('the find is not stored');
  const { planned } = planEdits({ outbox, ruleContext: KNOWN }, [stored], ['depth_cm=7']);
  edit(outbox, { ...find, elements: { ...find.elements, pocet: '2' } }, DRAFT);
  expect(() => planned[0]?.store()).toThrow(/process changed K-017/);
  expect(findByLocalId(outbox, find.localId)?.elements).toMatchObject({ hloubka: 25, pocet: '2' });
});
