import { createDrawing } from './element.js';

/** Names and shapes of a find's four states, which are told apart without colour too. */
const STATES = new Map([
  [1, { name: 'registered', shape: 'M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z' }],
  [2, { name: 'submitted', shape: 'M-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0z' }],
  [3, { name: 'confirmed', shape: 'M0 -7.5L7.5 0L0 7.5L-7.5 0z' }],
  [4, { name: 'archived', shape: 'M-5.5 -5.5h11v11h-11z' }],
]);

export const ALL_STATES = [...STATES.keys()];

/** @param {number | null} state */
export function getStateName(state) {
  return STATES.get(state ?? 0)?.name ?? 'without state';
}

/** @param {number | null} state */
export function stateShape(state) {
  return createDrawing('path', {
    class: `mark state-${state ?? 0}`,
    d: STATES.get(state ?? 0)?.shape ?? 'M-4 -4l8 8m0 -8l-8 8',
  });
}

/** The mark for use beside text. @param {number | null} state */
export function stateIcon(state) {
  return createDrawing(
    'svg',
    { class: 'state-icon', viewBox: '-9 -9 18 18', 'aria-hidden': 'true' },
    stateShape(state),
  );
}
