/**
 * The control interface as this page asks it: every address is relative to the page's own.
 *
 * @typedef {{ id: string, name: string, type: string, size_bytes: number }} Photograph
 * @typedef {{ ident: string, state: number | null, label: string, place: string | null,
 * registration_number: string | null,
 *   point: [number, number] | null, datestamp: string, photos: Photograph[] }} Find
 * @typedef {{ revision: number, matching: number, by_state: Record<string, number>, photos: number,
 * finds: Find[] }} Finds
 * @typedef {{ ident: string, name: string, at: [number, number] | null, rings: [number, number][][]
 * }} Shape
 * @typedef {{ regions: Shape[], districts: Shape[], areas: Shape[] }} Outlines
 * @typedef {{ id: number, method: string, path: string, address: string, at_ms: number, user:
 * string | null,
 *   status: number | null, user_gap_ms: number | null, address_gap_ms: number | null, ms: number | null,
 *   fault: string | null, rules: string[] }} JournalEntry
 * @typedef {{ headers: Record<string, string>, body: string | null, size_bytes: number, cut:
 * boolean }} Message
 * @typedef {{ rules: { rule: string, clause: string | null, clause_id: string | null }[], fault:
 * string | null, request: Message | null, answer: Message | null,
 *   change: { kind: 'find-created' | 'number-changed' | 'photograph-added', ident: string, name?: string } | null }} Exchange
 * @typedef {{ id: number, endpoint: string, fault: string, when?: Record<string, number | string>,
 * times?: number,
 *   retry_after?: number, ms?: number, status?: number, at?: string, active?: boolean, seen: number, struck: number }} FaultRule
 * @typedef {{ fault: string, meaning: string, endpoints: string[], options: string[] }} Fault
 * @typedef {{ access_mode: string, latency_ms: number, page_size: number, outage: boolean,
 * antivirus: boolean,
 *   min_request_intervals: { user_ms: number, ip_ms: number } }} Settings
 * @typedef {{ now_ms: number, now: string, frozen: boolean }} Clock
 * @typedef {{ pid: number, revision: number, oldest_entry: number, clock: Clock }} Pulse
 * @typedef {{ username: string, role: string, organisation: string, active: boolean }} Account
 * @typedef {{ accounts: Account[], projects: { ident: string, importable_by: string[] }[],
 *   addresses: Record<string, string | null>, deployed: boolean, training: boolean }} State
 */

/** The server said no; the message is its reason. */
export class Refusal extends Error {}

/**
 * @param {'GET' | 'POST' | 'PUT' | 'DELETE'} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<any>} what the route answers; the types above say what that is
 * @throws {Refusal} or, without an answer, the error of `fetch`
 */
export async function ask(method, path, body) {
  const response = await fetch(`.${path}`, {
    method,
    cache: 'no-store',
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  const value = await response.json();
  if (!response.ok)
    throw new Refusal(
      typeof value?.error === 'string' ? value.error : `answered ${response.status}`,
    );
  return value;
}

/** @param {string} id */
export function getPhotographAddress(id) {
  return `photos/${encodeURIComponent(id)}`;
}
