import { msg } from '../../base/message.ts';

/** Kinds of profiles for people. */
export const INSTANCE_WORDS = { production: msg`production`, training: msg`training` } as const;
