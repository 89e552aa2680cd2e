import { ask, Refusal } from './control.js';
import { CountTiles } from './counts.js';
import { getPart } from './element.js';
import { FaultPanel } from './faults.js';
import { FindPanel } from './finds.js';
import { JournalTable } from './journal.js';
import { FindMap } from './map.js';
import { preparePhotographDialog } from './photographs.js';
import { ClockPanel, SettingsPanel, showServer } from './settings.js';

/** @import { FaultRule, Finds, Pulse, Settings } from './control.js' */

const REFRESH_MS = 1000;
/**
 * The page leaves the server this many times as long alone as its last questions took, within
 * bounds.
 */
const REST_PER_WORK = 10;
const MAX_REST_MS = 4000;
const NOTICE_MS = 5000;

const map = new FindMap(getPart('map', SVGSVGElement), getPart('map-scale', HTMLElement), choose);
const finds = new FindPanel({ choose, move, besides: (ident) => map.listBesides(ident) });
const journal = new JournalTable();
const faults = new FaultPanel(act);
const settings = new SettingsPanel(act);
const clock = new ClockPanel(act);
const counts = new CountTiles((state) => {
  shown.state = state;
  void refreshOnce();
});
const search = getPart('search', HTMLInputElement);

/** Which server the page has met, and which finds of it are on show. */
const lastShown = { pid: 0, finds: '' };
/** @type {{ state: number | null, finds: Finds | undefined }} */
const shown = { state: null, finds: undefined };
/** @type {ReturnType<typeof setTimeout> | undefined} */
let nextRefresh;
/** @type {Promise<void> | undefined} */
let refreshing;

/** Asks what has changed, shows it, and does so again after a while. */
async function refresh() {
  clearTimeout(nextRefresh);
  const startedAt = performance.now();
  try {
    await showNews();
    showConnection('live', 'live');
  } catch (error) {
    if (error instanceof Refusal) showConnection('lost', error.message);
    else if (error instanceof TypeError)
      showConnection('lost', 'no answer: is the server running?');
    else throw error;
  } finally {
    const tookMs = performance.now() - startedAt;
    nextRefresh = setTimeout(
      refreshOnce,
      Math.min(Math.max(REFRESH_MS, tookMs * REST_PER_WORK), MAX_REST_MS),
    );
  }
}

/** Two refreshes never overlap; who asks during one gets another after it. */
async function refreshOnce() {
  while (refreshing !== undefined) await refreshing;
  refreshing = refresh();
  await refreshing.finally(() => {
    refreshing = undefined;
  });
}

async function showNews() {
  /** @type {[Pulse, FaultRule[], Settings]} */
  const [heartbeat, rules, current] = await Promise.all([
    ask('GET', '/pulse'),
    ask('GET', '/faults'),
    ask('GET', '/settings'),
  ]);
  if (heartbeat.pid !== lastShown.pid) await meetServer(heartbeat.pid);
  clock.show(heartbeat.clock);
  settings.show(current);
  faults.show(rules);
  journal.add(
    await ask('GET', journal.newEntries),
    heartbeat.oldest_entry,
    current.min_request_intervals,
  );
  const query = new URLSearchParams({
    text: search.value,
    ...(shown.state === null ? {} : { state: String(shown.state) }),
  });
  if (`${heartbeat.revision} ${query}` !== lastShown.finds) {
    lastShown.finds = `${heartbeat.revision} ${query}`;
    showFinds(await ask('GET', `/finds?${query}`));
  }
  const active = rules.filter((rule) => rule.active !== false).length;
  const { by_state: byState, photos } = shown.finds ?? { by_state: {}, photos: 0 };
  counts.show({ byState, photos, requests: journal.size, faults: active }, shown.state);
}

/** A server that the page has not met yet, or that was started anew. @param {number} pid */
async function meetServer(pid) {
  const [state, outlines, catalogue] = await Promise.all([
    ask('GET', '/state'),
    ask('GET', '/map'),
    ask('GET', '/faults/catalogue'),
  ]);
  showServer(state);
  map.draw(outlines);
  faults.offer(catalogue);
  journal.forget();
  lastShown.pid = pid;
  lastShown.finds = '';
}

/** @param {Finds} answer */
function showFinds(answer) {
  shown.finds = answer;
  map.show(answer.finds);
  finds.show(answer);
  getPart('map-empty', HTMLElement).hidden = !map.isEmpty;
  const remainingCount = answer.matching - answer.finds.length;
  getPart('map-note', HTMLElement).textContent =
    remainingCount === 0 ? '' : `the newest ${answer.finds.length} of ${answer.matching} finds`;
  openChosen();
}

/**
 * The address of the page says which find is open, so that Back works. @param {string | undefined}
 * ident
 */
function choose(ident) {
  if (ident !== undefined) location.hash = ident;
  else if (location.hash !== '') history.pushState(null, '', location.pathname);
  openChosen();
}

function openChosen() {
  const ident = decodeURIComponent(location.hash.slice(1));
  const isFind = /^[A-Z].*-N\d+$/.test(ident);
  map.choose(isFind ? ident : undefined);
  finds.open(isFind ? ident : undefined).catch(noticeFailure);
}

/** @param {string} ident @param {string} move */
function move(ident, move) {
  void act('POST', `/records/${encodeURIComponent(ident)}/move`, { move }, `${ident}: ${move}.`);
}

/**
 * Does something, says so, and shows what has come of it.
 * @param {'POST' | 'PUT' | 'DELETE'} method
 * @param {string} path
 * @param {unknown} body
 * @param {string} done
 */
async function act(method, path, body, done) {
  try {
    await ask(method, path, body);
    notice(done, false);
  } catch (error) {
    noticeFailure(error);
  }
  await refreshOnce();
}

/** @param {unknown} error */
function noticeFailure(error) {
  notice(error instanceof Error ? error.message : String(error), true);
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let noticeEnd;

/** @param {string} text @param {boolean} isRefusal */
function notice(text, isRefusal) {
  const place = getPart('notice', HTMLElement);
  place.textContent = text;
  place.hidden = false;
  place.classList.toggle('refusal', isRefusal);
  clearTimeout(noticeEnd);
  noticeEnd = setTimeout(() => {
    place.hidden = true;
  }, NOTICE_MS);
}

/** @param {'live' | 'lost'} kind @param {string} text */
function showConnection(kind, text) {
  const place = getPart('connection', HTMLElement);
  place.className = `connection ${kind}`;
  if (place.textContent !== text) place.textContent = text;
}

function prepareReset() {
  const dialog = getPart('reset-dialog', HTMLDialogElement);
  getPart('reset', HTMLButtonElement).addEventListener('click', () => dialog.showModal());
  getPart('reset-cancel', HTMLButtonElement).addEventListener('click', () => dialog.close());
  getPart('reset-confirm', HTMLButtonElement).addEventListener('click', () => {
    dialog.close();
    choose(undefined);
    void act('POST', '/reset', undefined, 'Everything is back at the seed.');
  });
}

/** @type {Record<string, () => void>} */
const MAP_BUTTONS = {
  'map-in': () => map.zoomIn(),
  'map-out': () => map.zoomOut(),
  'map-finds': () => map.fitFinds(),
  'map-all': () => map.showEverything(),
};
for (const [id, run] of Object.entries(MAP_BUTTONS))
  getPart(id, HTMLButtonElement).addEventListener('click', run);
getPart('journal-clear', HTMLButtonElement).addEventListener(
  'click',
  () => void act('DELETE', '/journal', undefined, 'The journal is empty.'),
);
/** @type {ReturnType<typeof setTimeout> | undefined} */
let searchStart;
search.addEventListener('input', () => {
  clearTimeout(searchStart);
  searchStart = setTimeout(refreshOnce, 250);
});
window.addEventListener('hashchange', openChosen);
window.addEventListener('popstate', openChosen);
preparePhotographDialog();
prepareReset();
await refreshOnce();
