import { msg } from '../../base/message.ts';

/** What people read where a profile's kind is meant. */
export const INSTANCE_WORDS = { production: msg`production`, training: msg`training` } as const;
