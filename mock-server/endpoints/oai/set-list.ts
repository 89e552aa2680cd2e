import { escapeText } from '../../state/records/render.ts';
import { dublinCoreOf } from '../../state/records/render-dublin-core.ts';
import { toSeconds } from './dates.ts';
import type { Harvest } from './harvest.ts';
import { ProtocolError, type Query } from './protocol.ts';
import { type HarvestSet, setsOf } from './sets.ts';
import { type ListState, signedTokens } from './tokens.ts';

/** In pages where the page size is smaller than the list; the deployed service never pages sets and ignores tokens (B-SET-4). */
export function listSets(harvest: Harvest, { arguments: given }: Query): string {
  const { deployed, version, mock } = harvest;
  const sets = setsOf(version, deployed);
  const pageSize = deployed ? sets.length : mock.settings.page_size;
  const token = deployed ? undefined : given.get('resumptionToken');
  const cursor = token === undefined ? 0 : cursorOf(harvest, token);
  const page = sets.slice(cursor, cursor + pageSize);
  return `<ListSets>\n${page.map(setElement).join('\n')}${tokenElement(harvest, cursor, page.length, sets.length)}\n</ListSets>`;
}

function setElement({ setSpec, cs, en }: HarvestSet): string {
  const description = dublinCoreOf([
    ['description', `Záznamy sady „${cs}“.`, 'cs'],
    ['description', `Records of the set "${en}".`, 'en'],
  ]);
  return (
    `<set><setSpec>${setSpec}</setSpec><setName>${escapeText(`${cs} / ${en}`)}</setName>` +
    `<setDescription>${description}</setDescription></set>`
  );
}

function cursorOf(harvest: Harvest, token: string): number {
  if (harvest.refuseTokens) throw new ProtocolError('badResumptionToken', 'the token has expired');
  const state = signedTokens(harvest.mock.seedNumber).read(token, harvest.nowMs);
  if (state.verb === 'ListSets' && state.version === harvest.version) return state.cursor;
  throw new ProtocolError('badResumptionToken', 'the token belongs to another list');
}

function tokenElement({ mock, version, nowMs }: Harvest, cursor: number, pageLength: number, size: number): string {
  const attributes = `completeListSize="${size}" cursor="${cursor}"`;
  if (cursor + pageLength >= size) return cursor === 0 ? '' : `\n<resumptionToken ${attributes}/>`;
  const state: ListState = {
    verb: 'ListSets',
    version,
    prefix: '',
    set: null,
    fromMs: null,
    untilMs: null,
    user: null,
    after: null,
    cursor: cursor + pageLength,
    size,
  };
  const expiresMs = nowMs + mock.settings.resumption_token_ms;
  const token = escapeText(signedTokens(mock.seedNumber).issue(state, expiresMs));
  return `\n<resumptionToken expirationDate="${toSeconds(expiresMs)}" ${attributes}>${token}</resumptionToken>`;
}
