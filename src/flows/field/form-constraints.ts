import { type Message, msg } from '../../base/message.ts';
import type { ElementName } from '../../find/fields.ts';
import { MAX_NAME_LENGTH } from '../../find/resolve-references.ts';
import { HANDOVER_REQUIRED } from '../../find/rules.ts';
import { MAX_CHARACTERS, MAX_DEPTH_CM } from '../../find/value-rules.ts';

/** Texts of the rules that a phone can evaluate; each program has its own expressions for them. */
export const CONSTRAINT_TEXTS: Readonly<Partial<Record<ElementName, Message>>> = {
  hloubka: msg`Depth is in whole centimetres below the surface, 0 to ${MAX_DEPTH_CM}.`,
  datum_nalezu: msg`The date is in the future or very long ago.`,
  evidencni_cislo: msg`A registration number has at most ${MAX_CHARACTERS} characters.`,
  predano: HANDOVER_REQUIRED,
  nalezce: msg`Write the surname, a comma and the given name: Novák, Jan.`,
  projekt: msg`Write the identifier alone, such as C-202400101.`,
};

const NAME_PART = `[^,;]{1,${MAX_NAME_LENGTH}}`;

/** Pattern of a person's name that is typed. */
export const NAME_PATTERN = `^${NAME_PART}, *${NAME_PART}$`;
