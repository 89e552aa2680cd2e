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
    return {
      ...withoutMissing(values, ['ident_cely', 'jmeno', 'prijmeni', 'email']),
      ...(values.osoba === undefined ? {} : { osoba: references.to(values.osoba, 'osoba') }),
      ...withoutMissing(values, ['orcid']),
      organizace: references.to(values.organizace, 'organizace'),
      jazyk: values.jazyk ?? 'cs',
      ...withoutMissing(values, ['telefon']),
      aktivni: String(values.aktivni ?? true),
      admin: String(values.admin ?? false),
      superadmin: String(values.superadmin ?? false),
      skupina: groups.map((group) => makeLanguageText('cs', group)),
      ...(values.notifikace === undefined ? {} : { notifikace: values.notifikace }),
      ...(values.hlidaci_pes === undefined
        ? {}
        : { hlidaci_pes: values.hlidaci_pes.map((area) => references.to(area, 'hlidaci_pes')) }),
      datum_registrace: values.datum_registrace,
      ...(values.historie === undefined
        ? {}
        : { historie: references.makeHistory(values.historie, 'historie') }),
      ...makeCooperations(
        'spoluprace_nadrizeni',
        'vedouci',
        values.spoluprace_nadrizeni,
        references,
      ),
      ...makeCooperations(
        'spoluprace_podrizeni',
        'spolupracovnik',
        values.spoluprace_podrizeni,
        references,
      ),
    };
  });
}

/** Makes the cooperations of one side of a pair; `stav` 1 is inactive, 2 active. */
function makeCooperations(
  name: string,
  partner: string,
  list: readonly unknown[] | undefined,
  references: References,
): Body {
  if (list === undefined) return {};
  const bodies: BodyValue = list.map((entry, index): Body => {
    const place = `${name}[${index}]`;
    if (!isObject(entry))
      throw new ShapeError(place, `must be an object with id, ${partner} and stav`);
    const { historie, ...rest } = entry;
    const history: Body =
      historie === undefined
        ? {}
        : { historie: references.makeHistory(historie, `${place}.historie`) };
    return { ...references.makeBody(rest, place), ...history };
  });
  return { [name]: bodies };
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
      ...(projects === undefined ? {} : { projects }),
    };
  });
}
