import { t } from '../../base/language.ts';

/** What people read where a profile's kind is meant. */
export const INSTANCE_WORDS = { production: t`production`, training: t`training` } as const;
