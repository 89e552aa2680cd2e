import { t } from '../base/language.ts';
import { FIELDS, type Field, pointElement } from './fields.ts';
import type { FindElements } from './find.ts';
import { type Finding, type Rule, type RuleContext, rankOf } from './rule.ts';

/** What the target state asks for (contract, "Find import document" and "States and transitions"; service facts 4.4). */
export const STATE_RULES: readonly Rule[] = [
  { name: 'required', judge: requiredElements },
  { name: 'geometry-required', judge: requiredPoint },
  { name: 'handed-over', judge: handedOver },
  { name: 'role-state', judge: roleAllowsState },
];

/** Blank texts and references without an identifier count as absent, as they do for the service. */
function isPresent(elements: FindElements, name: Field['name']): boolean {
  const value = elements[name];
  if (value === undefined) return false;
  if (typeof value === 'object') return value.id.trim() !== '';
  return typeof value !== 'string' || value.trim() !== '';
}

function requiredElements(elements: FindElements): Finding[] {
  const state = elements.stav ?? 1;
  return FIELDS.filter(
    (field) => field.kind !== 'point' && (field.requiredFrom ?? 4) <= state && !isPresent(elements, field.name),
  ).map(({ name, gloss, requiredFrom }) => {
    const lower = (requiredFrom ?? 2) - 1;
    const message =
      requiredFrom === 1
        ? t`Every find needs ${name} (${gloss}). Fill it in.`
        : t`A find for state ${state} needs ${name} (${gloss}). Fill it in, or choose state ${lower}.`;
    return { element: name, message };
  });
}

/** The other element's point does not count: `geom_system` selects one (service facts 4.5). */
function requiredPoint(elements: FindElements): Finding[] {
  const { geom_system: system, stav = 1 } = elements;
  if (system === undefined || stav < 2 || isPresent(elements, pointElement(system))) return [];
  const element = pointElement(system);
  const other = pointElement(system === '4326' ? '5514' : '4326');
  const message = isPresent(elements, other)
    ? t`geom_system says ${system}, but the point is in ${other}. Correct geom_system, or give the point in ${system}.`
    : t`A find for state ${stav} needs a point in ${element}. Fill in its coordinates, or choose state 1.`;
  return [{ element, message }];
}

/** Absent is said by {@link requiredElements}. */
function handedOver({ stav, predano }: FindElements): Finding[] {
  if (stav !== 3 || predano !== false) return [];
  return [{ element: 'predano', message: t`A find for state 3 must be handed over. Set predano to true, or choose state 2.` }];
}

/** Contract, "Authentication", rule 4. */
function roleAllowsState({ stav = 1 }: FindElements, context: RuleContext): Finding[] {
  if (stav === 1 || rankOf(context) !== 'researcher') return [];
  const message = t`Your role is Researcher, which may import into state 1 only. Choose state 1, or ask an archaeologist to import it.`;
  return [{ element: 'stav', message }];
}
