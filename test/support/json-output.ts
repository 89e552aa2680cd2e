/** An issue in the output of `--json`. */
export type Issue = {
  readonly rule: string;
  readonly severity: string;
  readonly message: string;
  readonly row: number | null;
  readonly column: string | null;
  readonly element: string | null;
  readonly find: string | null;
  readonly sheet?: string;
};

/** The result of `pas import --json`. */
export type Imported = Readonly<
  Record<
    | 'added'
    | 'updated'
    | 'unchanged'
    | 'equal'
    | 'already_sent'
    | 'invalid'
    | 'drafts'
    | 'photos'
    | 'numbers',
    number
  >
> & { readonly issues: readonly Issue[] };

/** A find in `pas list --json`. */
export type Listed<Value = unknown> = {
  readonly local_id: string;
  readonly state: string;
  readonly ident_cely: string | null;
  readonly elements: Readonly<Record<string, Value>>;
};

type Shown = Omit<Listed, 'state'> & {
  readonly entries: readonly {
    readonly entry: number;
    readonly kind: string;
    readonly state: string;
    readonly value?: string;
    readonly photo?: string;
    readonly photograph?: string;
    readonly reason: string;
    readonly evidence: readonly { readonly basis: string }[];
  }[];
};

type Status = {
  readonly finds: number;
  readonly entries: Record<
    'import' | 'number' | 'photo',
    Record<'queued' | 'accepted' | 'uncertain', number>
  >;
  readonly needs_person: {
    readonly find: string;
    readonly command: string;
    readonly reason: string;
    readonly held?: {
      readonly question: string;
      readonly candidates: string[];
      readonly answers: string[];
    };
  }[];
  readonly next: string[];
  readonly paused_until: string | null;
};

/** The value that each of these commands prints with `--json`. */
export type JsonOutput = {
  readonly list: Listed[];
  readonly show: Shown;
  readonly import: Imported;
  readonly status: Status;
};
