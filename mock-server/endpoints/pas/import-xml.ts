import { setImmediate as nextTurn } from 'node:timers/promises';
import type { XmlDocument } from 'libxml2-wasm';
import { type Addresses, getXsdAddress, NEWEST_VERSION } from '../../base/addresses.ts';
import { findDigestFault } from '../../base/digest.ts';
import { type Answer, HttpError } from '../../base/http-message.ts';
import type { Say } from '../../base/messages.ts';
import { type FilePart, readFileParts } from '../../base/multipart.ts';
import {
  makeHtmlPage,
  makeSchemaErrors,
  makeValidationErrors,
  type Problem,
} from '../../base/problem.ts';
import { makeTree } from '../../base/xml-tree.ts';
import {
  checkDeclaration,
  type FindDocument,
  parseFindDocument,
  requireOneFind,
} from '../../rules/find-document.ts';
import { isAtLeast, mayImportInto } from '../../rules/permission.ts';
import { resolveReferences } from '../../rules/references.ts';
import { assertNoProblems, makeProblem, makeRefusal } from '../../rules/refusal.ts';
import type { WriteRequest } from '../../rules/write-request.ts';
import type { Placement } from '../../state/areas.ts';
import type { Mock } from '../../state/mock.ts';
import { MAX_DOCUMENT_BYTES } from '../../state/schema.ts';
import { makeFindAnswer } from './find-answer.ts';
import { makeNextFindIdent, type PlannedFind, saveFind } from './save-find.ts';

/**
 * Answers `POST /api/pas/import-xml`, with the checks of A-IMPORT-4 in order. Other requests run
 * between its longer steps: a delayed one would count as late, and the next one as too early.
 */
export async function importFind(mock: Mock, request: WriteRequest): Promise<Answer> {
  const { say, incoming, hooks } = request;
  const file = await requireOneFile(mock, request);
  const digest = findDigestFault(joinHeader(incoming.headers['content-digest']), file.sha512);
  if (digest !== undefined) throw makeRefusal(400, say(digest));
  const find = await mock.schemas.withDocument(file.bytes, async (document, xml) => {
    const named = checkDeclaration(mock, incoming.addresses, document, say);
    await checkSchema(mock, request, document, named);
    await nextTurn();
    return {
      named,
      ...parseFindDocument(requireOneFind(makeTree(xml, document.root), say), say, mock.deployed),
    };
  });
  if (find === undefined) throw makeRefusal(400, say('xml-malformed'));
  await nextTurn();
  checkPermission(mock, request, find);
  const planned = plan(mock, request, find);
  const pause = hooks.beforeSave();
  if (pause !== undefined) await pause;
  const saved = saveFind(mock, planned, say);
  incoming.change = { kind: 'find-created', ident: saved.ident };
  hooks.afterSave();
  await nextTurn();
  return makeFindAnswer({ ...incoming.addresses, schemaBase: find.named.schemaBase }, 201, saved);
}

/** Step 1: exactly one file; on the deployed service the last part of that name (A-WIRE-1). */
async function requireOneFile(mock: Mock, { incoming, say }: WriteRequest): Promise<FilePart> {
  const maxBodyBytes = Math.min(mock.settings.body_max_bytes, MAX_DOCUMENT_BYTES);
  const parts = await readFileParts(incoming, { maxBodyBytes });
  if (parts === 'not-multipart')
    throw makeRefusal(415, say('media-type', incoming.headers['content-type'] ?? ''));
  if (parts === 'malformed') throw makeRefusal(400, say('multipart-malformed'));
  if (parts === 'too-large') throw new HttpError(makeHtmlPage(413, 'Request Entity Too Large'));
  const file = parts.findLast((part) => part.field === 'file');
  if (file === undefined) throw makeRefusal(400, say('file-missing'));
  if (parts.length > 1 && !mock.deployed) throw makeRefusal(400, say('file-many'));
  return file;
}

/** Steps 5 and 6: reports every violation with its line. */
async function checkSchema(
  mock: Mock,
  { say, incoming }: WriteRequest,
  document: XmlDocument,
  named: Addresses,
): Promise<void> {
  if (!mock.settings.schema_reachable) {
    const message = say('schema-unreachable', getXsdAddress(named, NEWEST_VERSION));
    throw new HttpError(
      makeValidationErrors([{ line: null, column: null, message, error_type: 2 }]),
    );
  }
  const errors = await mock.schemas.findErrors(document, NEWEST_VERSION, named.schemaBase);
  if (errors.length === 0) return;
  incoming.reported.push('schema');
  throw new HttpError(makeSchemaErrors(errors.map((error) => ({ ...error, error_type: 2 }))));
}

/** Steps 14 and 15. */
function checkPermission(mock: Mock, { account, say }: WriteRequest, find: FindDocument): void {
  const project = mock.archive.findLive('projekt', find.projekt);
  if (project === undefined) throw makeRefusal(404, say('project-unknown', find.projekt));
  if (find.stav > 1 && !isAtLeast(account, 'archaeologist'))
    throw makeRefusal(403, say('state-refused'));
  if (!mayImportInto(mock, account, project))
    throw makeRefusal(403, say('project-refused', find.projekt));
}

/** Steps 16 to 21: finds all errors before anything is written. */
function plan(mock: Mock, { account, say }: WriteRequest, find: FindDocument): PlannedFind {
  const references = resolveReferences(mock, find, say);
  assertNoProblems(references.problems);
  const ident = makeNextFindIdent(mock, find.projekt, say);
  assertNoProblems(checkGeometry(find, say));
  assertNoProblems(checkHandover(find, say));
  const placement =
    find.geometry === undefined
      ? undefined
      : mock.areas.findPlacement([find.geometry.longitude, find.geometry.latitude]);
  assertNoProblems(checkArea(find, placement, say));
  assertNoProblems(checkCompleteness(find, placement, say));
  return { ident, find, references, placement, creator: account.user };
}

/** Joins the values of a repeated header. */
export function joinHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Step 18: a geometry from state 2 on. */
function checkGeometry(find: FindDocument, say: Say): Problem[] {
  if (find.stav === 1 || find.geometry !== undefined) return [];
  const element = find.geom_system === '4326' ? 'geom_wkt' : 'geom_sjtsk_wkt';
  return [makeProblem(find.line, element, say('geometry-required', String(find.stav)))];
}

/** Step 19: what state 3 needs beyond state 2. */
function checkHandover(find: FindDocument, say: Say): Problem[] {
  if (find.stav !== 3) return [];
  const required = {
    evidencni_cislo: find.evidencni_cislo,
    predano_organizace: find.predano_organizace,
  };
  const missing = Object.entries(required)
    .filter(([, value]) => value === undefined)
    .map(([name]) => name);
  return [
    ...(missing.length === 0
      ? []
      : [makeProblem(find.line, missing.join(', '), say('state-3-missing', missing.join(', ')))]),
    ...(find.predano ? [] : [makeProblem(find.line, 'predano', say('handover-required'))]),
  ];
}

/** Step 20: wherever there is a point, it must lie in a cadastral area, in state 1 too. */
function checkArea(find: FindDocument, placement: Placement | undefined, say: Say): Problem[] {
  return find.geometry !== undefined && placement === undefined
    ? [makeProblem(find.line, 'katastr', say('outside-areas'))]
    : [];
}

/**
 * Step 21: everything that states 2 and 3 need, in one finding with its reasons in the service's
 * order.
 */
function checkCompleteness(
  find: FindDocument,
  placement: Placement | undefined,
  say: Say,
): Problem[] {
  if (find.stav === 1) return [];
  const required: ReadonlyArray<readonly [string, unknown]> = [
    ['obdobi', find.entries.obdobi],
    ['datum_nalezu', find.datum_nalezu],
    ['lokalizace', find.lokalizace],
    ['okolnosti', find.entries.okolnosti],
    ['specifikace', find.entries.specifikace],
    ['druh_nalezu', find.entries.druh_nalezu],
    ['nalezce', find.nalezce],
    ['geom', find.geometry],
    ['hloubka', find.hloubka],
    ['katastr', placement],
  ];
  const reasons = required
    .filter(([, value]) => value === undefined)
    .map(([name]) => say('incomplete', name));
  return reasons.length === 0
    ? []
    : [makeProblem(find.line, 'samostatny_nalez', reasons.join('; '))];
}
