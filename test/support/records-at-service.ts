import { expect } from 'vitest';
import { fetchToken, setNumber } from './contract-requests.ts';
import type { RunningMock } from './mock-process.ts';

type FindAtService = {
  readonly poznamka?: string;
  readonly hloubka?: string;
  readonly evidencni_cislo?: string;
  readonly chranene_udaje?: { readonly lokalizace?: string };
  readonly soubor?: readonly {
    readonly sha_512: string;
    readonly historie: readonly { readonly poznamka: string }[];
  }[];
};

/** A find as the service keeps it. */
export async function findAt(
  service: RunningMock,
  ident: string | null | undefined,
): Promise<FindAtService> {
  return (await service.control<{ body: FindAtService }>('GET', `/records/${ident}`)).body;
}

/** A curator sets the number of a find in the service's own pages. */
export async function curatorSets(
  { base_url: url }: RunningMock,
  ident: string | null | undefined,
  value: string,
): Promise<void> {
  const query = `?evidencni_cislo=${encodeURIComponent(value)}`;
  const token = await fetchToken({ url }, 'archivist');
  expect((await setNumber({ url }, `${ident}`, query, token)).status).toBe(200);
}
