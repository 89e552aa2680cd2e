import type { Answer } from './http-message.ts';

/** The connection ends without an answer: cut with a reset, or left open in silence until the client gives up. */
export class NoAnswer extends Error {
  readonly kind: 'hang' | 'reset';
  constructor(kind: 'hang' | 'reset') {
    super(kind);
    this.name = 'NoAnswer';
    this.kind = kind;
  }
}

/** Points inside an operation where a fault can strike: before anything is stored, and after the transaction is committed. */
export type Hooks = {
  beforeSave(): Promise<void>;
  afterSave(): void;
};

export const NO_HOOKS: Hooks = { beforeSave: async () => {}, afterSave: () => {} };

/** An answer that is to leave the server damaged: half of it under its full length. */
export type SentAnswer = Answer & { readonly truncated?: true };
