import { isLoopback } from './training.ts';

/** A separate service inside a mock server, with what a run needs to check everything. */
export type Tenant = {
  readonly baseUrl: string;
  readonly flags: {
    readonly baseUrl: string;
    readonly oaiBase: string;
    readonly write: string;
    readonly project: string;
    readonly foreignProject: string;
  };
  /** As the environment has accounts. */
  readonly accounts: NodeJS.ProcessEnv;
  remove(): Promise<void>;
};

/** Accounts and projects of the mock server's demo data. */
const ACCOUNTS = {
  PAS_USERNAME: 'archaeologist',
  PAS_PASSWORD: 'archaeologist',
  PAS_RESEARCHER_USERNAME: 'researcher',
  PAS_RESEARCHER_PASSWORD: 'researcher',
};
const PROJECTS = { project: 'C-202400101', foreignProject: 'M-202300316' };

/** Makes a tenant; undefined where no mock server of this machine answers, or it refuses one. */
export async function makeTenant(baseUrl: string): Promise<Tenant | undefined> {
  const { host, hostname, origin } = new URL(baseUrl);
  if (!isLoopback(hostname)) return undefined;
  const tenants = `${origin}/__mock__/tenants`;
  const made = await fetch(tenants, { method: 'POST', body: '{"seed":"demo"}' }).catch(
    () => undefined,
  );
  const answer: unknown = await made?.json().catch(() => undefined);
  if (made?.status !== 200 || !isAnswer(answer)) return undefined;
  return {
    baseUrl: answer.base_url,
    flags: { baseUrl: answer.base_url, oaiBase: answer.oai_base, write: host, ...PROJECTS },
    accounts: ACCOUNTS,
    remove: async () => {
      await fetch(`${tenants}/${answer.name}`, { method: 'DELETE' }).catch(() => undefined);
    },
  };
}

type Answer = { readonly name: string; readonly base_url: string; readonly oai_base: string };

function isAnswer(value: unknown): value is Answer {
  return typeof value === 'object' && value !== null && 'name' in value && 'oai_base' in value;
}
