/** A fault of the mock's harvesting interface that strikes the `nth` request once, unless `more` says otherwise. */
export function oaiFault(nth: number, fault: string, more: object = {}): Record<string, unknown> {
  return { endpoint: 'oai', fault, times: 1, when: { nth }, ...more };
}

/** Every trouble that a harvest gets over by itself, in words and as a fault. */
export function passingTroubles(nth: number): [words: string, fault: Record<string, unknown>][] {
  return [
    ['a closed service that says when to come back', oaiFault(nth, '503', { retry_after: 1 })],
    ['a closed service that does not', oaiFault(nth, 'oai-503')],
    ['too many requests', oaiFault(nth, 'throttle', { retry_after: 1 })],
    ['an internal error', oaiFault(nth, '500-before-save')],
    ['a bad gateway', oaiFault(nth, '502')],
    ['a connection that is lost', oaiFault(nth, 'reset-before-save')],
    ['a page that is cut off', oaiFault(nth, 'truncate')],
    ['a page of nonsense', oaiFault(nth, 'malformed')],
    ['a resumption token that is no longer known', oaiFault(nth, 'bad-resumption-token')],
  ];
}
