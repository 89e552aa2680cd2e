import { setImmediate as nextTurn } from 'node:timers/promises';
import { listHiddenEntities } from '../../rules/visibility.ts';
import {
  type ListQuery,
  type RecordFilter,
  toHeader,
  toRecord,
} from '../../state/records/archive-table.ts';
import type { RecordHeader } from '../../state/records/record.ts';
import { escapeText } from '../../state/records/render.ts';
import { formatSeconds, parseWindow } from './dates.ts';
import { type Harvest, renderHeader, renderRecordElement } from './harvest.ts';
import {
  type Format,
  INVALID_SET,
  makeBadArgument,
  ProtocolError,
  parseFormat,
  type Query,
  type Verb,
} from './protocol.ts';
import { getSets } from './sets.ts';
import { type ListState, makeSignedTokens, makeStoredTokens, type Tokens } from './tokens.ts';

/**
 * Renders one page of ListRecords or ListIdentifiers, newest first, with the token of the next.
 * @throws ProtocolError
 */
export async function renderPage(harvest: Harvest, query: Query): Promise<string> {
  const token = query.arguments.get('resumptionToken');
  const state =
    token === undefined ? makeFirstState(harvest, query) : resumeState(harvest, query.verb, token);
  const format = parseFormat(harvest.addresses, state.prefix);
  // Counting and reading each take the time of a slice.
  await nextTurn();
  const pageSize = harvest.mock.settings.page_size;
  const { page, elements, more } = await readPage(
    harvest,
    query.verb,
    { ...listQuery(harvest, state), limit: pageSize + 1 },
    format,
  );
  if (page.length === 0 && token === undefined) {
    throw new ProtocolError('noRecordsMatch', 'no record fits set, from and until');
  }
  const size = harvest.deployed
    ? harvest.mock.archive.count(listQuery(harvest, state))
    : state.size;
  return `<${query.verb}>\n${elements.join('\n')}${renderToken(harvest, { ...state, size }, page, more)}\n</${query.verb}>`;
}

type Page = {
  readonly page: readonly RecordHeader[];
  readonly elements: readonly string[];
  readonly more: boolean;
};

/** @param query has a limit of one record more than the page, to detect a further page */
async function readPage(
  harvest: Harvest,
  verb: Verb,
  query: ListQuery,
  format: Format,
): Promise<Page> {
  const { archive } = harvest.mock;
  const pageSize = query.limit - 1;
  if (verb === 'ListRecords') {
    const rows = archive.listRows(query);
    await nextTurn();
    const elements = await mapInSlices(rows.slice(0, pageSize), (row) =>
      renderRecordElement(harvest, toRecord(row), format),
    );
    return { page: rows.slice(0, pageSize).map(toHeader), elements, more: rows.length > pageSize };
  }
  const headers = archive.listHeaders(query);
  const page = headers.slice(0, pageSize);
  const elements = await mapInSlices(page, (header) => renderListedHeader(harvest, header));
  return { page, elements, more: headers.length > pageSize };
}

/**
 * Maximum time for which a page delays other requests, in milliseconds: a pace of 105 ms against
 * 100 ms leaves no more.
 */
const SLICE_MS = 3;

/** Maps each item, and lets other requests run in between, so that none is read late. */
async function mapInSlices<T>(items: readonly T[], make: (item: T) => string): Promise<string[]> {
  const texts: string[] = [];
  let startedMs = performance.now();
  for (const item of items) {
    texts.push(make(item));
    if (performance.now() - startedMs < SLICE_MS) continue;
    await nextTurn();
    startedMs = performance.now();
  }
  await nextTurn();
  return texts;
}

/** Renders a header; the deployed service wraps it in a record (B-RECORD-4). */
function renderListedHeader(harvest: Harvest, header: RecordHeader): string {
  return harvest.deployed
    ? `<record>${renderHeader(harvest, header)}</record>`
    : renderHeader(harvest, header);
}

function makeFirstState(harvest: Harvest, { verb, arguments: args }: Query): ListState {
  const { mock, version, deployed, viewer } = harvest;
  const set = args.get('set');
  // Malformed dates are reported first: every other refusal repeats the arguments.
  const { fromMs, untilMs } = parseWindow(args.get('from'), args.get('until'), deployed);
  const prefix = args.get('metadataPrefix') ?? '';
  parseFormat(harvest.addresses, prefix);
  if (set !== undefined) checkSet(harvest, set);
  const state = {
    verb: deployed ? null : verb,
    version: deployed ? null : version,
    prefix,
    set: set ?? null,
    fromMs: fromMs ?? null,
    untilMs: untilMs ?? null,
    user: viewer.user,
    after: null,
    cursor: 0,
    size: 0,
  };
  return { ...state, size: mock.archive.count(listQuery(harvest, state)) };
}

/**
 * Checks a set: one that the endpoint does not list has no records; on the deployed service it is
 * invalid (B-SET-6).
 */
function checkSet({ version, deployed }: Harvest, set: string): void {
  if (getSets(version, deployed).some((knownSet) => knownSet.setSpec === set)) return;
  throw deployed
    ? makeBadArgument(INVALID_SET)
    : new ProtocolError('noRecordsMatch', `there is no set ${set}`);
}

/** Returns the state of a token, which is valid only for its list and account. */
function resumeState(harvest: Harvest, verb: Verb, token: string): ListState {
  if (harvest.refuseTokens) throw new ProtocolError('badResumptionToken', 'the token has expired');
  const state = getTokens(harvest).read(token, harvest.nowMs);
  if (harvest.deployed) return state;
  if (state.verb !== verb)
    throw new ProtocolError('badResumptionToken', `the token belongs to ${state.verb}`);
  if (state.version !== harvest.version)
    throw new ProtocolError('badResumptionToken', 'the token belongs to another version');
  if (state.user !== harvest.viewer.user)
    throw new ProtocolError('badResumptionToken', 'the token belongs to another user');
  return state;
}

/**
 * Returns the query of the next page, after the last record; the deployed service uses an offset
 * (B-TOKEN-12).
 */
function listQuery(
  { deployed, viewer, mock }: Harvest,
  state: ListState,
): RecordFilter & { readonly offset?: number } {
  return {
    set: state.set ?? undefined,
    fromMs: state.fromMs ?? undefined,
    untilMs: state.untilMs ?? undefined,
    without: deployed ? undefined : listHiddenEntities(viewer),
    instead: mock.harvestIndex.collectBehind(),
    after: state.after ?? undefined,
    offset: deployed ? state.cursor : undefined,
  };
}

/**
 * Renders the token: none for a list of one page, an empty element on the last of several (OAI-PMH
 * 2.0, section 3.5). On the deployed service the last page has a token, too, which leads to an
 * empty list (B-TOKEN-1).
 */
function renderToken(
  harvest: Harvest,
  state: ListState,
  page: readonly RecordHeader[],
  more: boolean,
): string {
  const { deployed, nowMs, mock } = harvest;
  const last = page.at(-1);
  const size = `completeListSize="${state.size}" cursor="${state.cursor}"`;
  const continues = deployed ? last !== undefined && state.size > mock.settings.page_size : more;
  if (!continues || last === undefined)
    return state.cursor === 0 || deployed ? '' : `\n<resumptionToken ${size}/>`;
  const expiresMs = nowMs + mock.settings.resumption_token_ms;
  const next: ListState = {
    ...state,
    after: deployed ? null : { datestampMs: last.datestampMs, ident: last.ident },
    cursor: state.cursor + (deployed ? mock.settings.page_size : page.length),
  };
  const token = escapeText(getTokens(harvest).issue(next, expiresMs));
  return `\n<resumptionToken expirationDate="${formatSeconds(expiresMs)}" ${size}>${token}</resumptionToken>`;
}

function getTokens({ deployed, mock }: Harvest): Tokens {
  return deployed ? makeStoredTokens(mock.database) : makeSignedTokens(mock);
}
