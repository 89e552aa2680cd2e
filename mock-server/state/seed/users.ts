import {
  array,
  filledTexts,
  flag,
  object,
  optional,
  optionalTexts,
  type Reader,
  ShapeError,
  text,
} from '../../base/shape.ts';
import { orderChildren } from '../records/child-order.ts';
import type { Body, BodyValue } from '../records/record.ts';
import type { SeedAccount } from '../seed-content.ts';
import { makeLanguageText, type References } from './references.ts';
import { TIMES, withoutMissing } from './registers.ts';
import { isObject, runAtRow, type SeedRow } from './seed-files.ts';

const anything: Reader<unknown> = (value) => value;

/** One entry of `accounts.json`: a user, who can sign in if `username` and `password` are given. */
const user = object({
  username: optional(text({ min: 1 })),
  password: optional(text({ min: 1 })),
  /** Survey projects that a researcher may import into, by active cooperation. */
  projects: optional(array(text({ min: 1 }))),
  ...filledTexts('ident_cely', 'jmeno', 'prijmeni', 'organizace', 'datum_registrace'),
  email: text({ min: 3 }),
  ...optionalTexts('osoba', 'orcid', 'jazyk', 'telefon'),
  aktivni: optional(flag),
  admin: optional(flag),
  superadmin: optional(flag),
  /** One role, or several groups. */
  skupina: anything,
  notifikace: optional(array(text())),
  hlidaci_pes: optional(array(text())),
  historie: optional(anything),
  spoluprace_nadrizeni: optional(array(anything)),
  spoluprace_podrizeni: optional(array(anything)),
  ...TIMES,
});

/**
 * Makes the record of an account: active, Czech and no admin by default.
 * @throws SeedError for an invalid value
 */
export function makeUserBody(row: SeedRow, references: References): Body {
  return runAtRow(row, () => {
    const values = user(row.value);
    const groups = array(text({ min: 1 }))([values.skupina].flat(), 'skupina');
    return orderChildren('uzivatel', {
      ...withoutMissing(values, [
        'ident_cely',
        'jmeno',
        'prijmeni',
        'email',
        'orcid',
        'telefon',
        'datum_registrace',
      ]),
      osoba: references.toOptional(values.osoba, 'osoba'),
      organizace: references.toOptional(values.organizace, 'organizace'),
      jazyk: values.jazyk ?? 'cs',
      aktivni: String(values.aktivni ?? true),
      admin: String(values.admin ?? false),
      superadmin: String(values.superadmin ?? false),
      skupina: groups.map((group) => makeLanguageText('cs', group)),
      notifikace: values.notifikace,
      hlidaci_pes: values.hlidaci_pes?.map((area) => references.to(area, 'hlidaci_pes')),
      historie:
        values.historie === undefined
          ? undefined
          : references.makeHistory(values.historie, 'historie'),
      spoluprace_nadrizeni: makeCooperations('nadrizeni', values.spoluprace_nadrizeni, references),
      spoluprace_podrizeni: makeCooperations('podrizeni', values.spoluprace_podrizeni, references),
    });
  });
}

/** Makes the cooperations of one side of a pair; `stav` 1 is inactive, 2 active. */
function makeCooperations(
  side: 'nadrizeni' | 'podrizeni',
  list: readonly unknown[] | undefined,
  references: References,
): BodyValue | undefined {
  const partner = side === 'nadrizeni' ? 'vedouci' : 'spolupracovnik';
  return list?.map((entry, index): Body => {
    const place = `spoluprace_${side}[${index}]`;
    if (!isObject(entry))
      throw new ShapeError(place, `must be an object with id, ${partner} and stav`);
    const { historie, ...rest } = entry;
    const body = references.makeBody(rest, place);
    if (historie === undefined) return body;
    return { ...body, historie: references.makeHistory(historie, `${place}.historie`) };
  });
}

/** Returns the account of a user who can sign in. */
export function parseAccount(row: SeedRow): SeedAccount | undefined {
  return runAtRow(row, () => {
    const { username, password, projects, ident_cely } = user(row.value);
    if (username === undefined && password === undefined) return undefined;
    if (username === undefined) throw new ShapeError('username', 'is missing beside the password');
    if (password === undefined) throw new ShapeError('password', 'is missing beside the user name');
    return {
      username,
      password,
      user: ident_cely,
      projects,
    };
  });
}
