import { GROUP_OF_ROLE, ROLES } from '../accounts.ts';
import type { Mock } from '../mock.ts';
import { textOf } from '../records/record.ts';
import { flag, nullable, object, oneOf, optional, text } from '../shape.ts';
import { ControlRefusal } from './refusal.ts';
import { accountView } from './state-view.ts';

const readRights = object({
  role: optional(nullable(oneOf(ROLES))),
  organisation: optional(text({ min: 1 })),
  active: optional(flag),
});

/** The group of an account that has no role. */
const NO_ROLE = 'Uživatel';

/** Changes what an account may do: its user's record says so from now on, and requests under way are not asked again. */
export function changeAccount(mock: Mock, username: string, body: unknown): unknown {
  const { role, organisation: ident, active } = readRights(body);
  const account = mock.accounts.byName(username);
  const user = account === undefined ? undefined : mock.archive.live('uzivatel', account.user);
  if (account === undefined || user === undefined) throw new ControlRefusal(404, `there is no account ${username}`);
  const organisation = ident === undefined ? undefined : mock.archive.live('organizace', ident);
  if (ident !== undefined && organisation === undefined) throw new ControlRefusal(404, `there is no organisation ${ident}`);
  const cs = (value: string) => ({ '@lang': 'cs', '#': value });
  mock.archive.put({
    entity: 'uzivatel',
    body: {
      ...user.body,
      ...(role === undefined ? {} : { skupina: cs(role === null ? NO_ROLE : GROUP_OF_ROLE[role]) }),
      ...(organisation === undefined
        ? {}
        : { organizace: { ...cs(textOf(organisation.body['nazev']) ?? organisation.ident), '@id': organisation.ident } }),
      ...(active === undefined ? {} : { aktivni: String(active) }),
    },
  });
  return accountView(mock.accounts.byName(username) ?? account);
}
