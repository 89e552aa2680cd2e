import type { Say } from '../base/messages.ts';
import type { Problem } from '../base/problem.ts';
import type { Placement } from '../state/areas.ts';
import type { FindDocument } from './find-document.ts';
import { problem } from './refusal.ts';

/** Step 18: a geometry from state 2 on. */
export function geometryProblems(find: FindDocument, say: Say): Problem[] {
  if (find.stav === 1 || find.geometry !== undefined) return [];
  const element = find.geom_system === '4326' ? 'geom_wkt' : 'geom_sjtsk_wkt';
  return [problem(find.line, element, say('geometry-required', String(find.stav)))];
}

/** Step 19: what state 3 needs beyond state 2. */
export function handoverProblems(find: FindDocument, say: Say): Problem[] {
  if (find.stav !== 3) return [];
  const required = { evidencni_cislo: find.evidencni_cislo, predano_organizace: find.predano_organizace };
  const missing = Object.entries(required)
    .filter(([, value]) => value === undefined)
    .map(([name]) => name);
  return [
    ...(missing.length === 0 ? [] : [problem(find.line, missing.join(', '), say('state-3-missing', missing.join(', ')))]),
    ...(find.predano ? [] : [problem(find.line, 'predano', say('handover-required'))]),
  ];
}

/** Step 20: wherever there is a point, it must lie in a cadastral area, in state 1 too. */
export function areaProblems(find: FindDocument, placement: Placement | undefined, say: Say): Problem[] {
  return find.geometry !== undefined && placement === undefined ? [problem(find.line, 'katastr', say('outside-areas'))] : [];
}

/** Step 21: everything that states 2 and 3 need, in one finding with its reasons in the service's order. */
export function completenessProblems(find: FindDocument, placement: Placement | undefined, say: Say): Problem[] {
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
  const reasons = required.filter(([, value]) => value === undefined).map(([name]) => say('incomplete', name));
  return reasons.length === 0 ? [] : [problem(find.line, 'samostatny_nalez', reasons.join('; '))];
}
