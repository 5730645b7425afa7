import { castArray } from 'lodash';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';
import { isJsonObject } from '../../shared';
import { saysFailure } from './error';

/** An unsafe integer has lost digits, and may be the hash of another resource. */
export const hashSchema = z.union([z.string().trim().min(1), z.number().int().safe()]);

const withHash = z.object({ hash: hashSchema });

/**
 * Reads a resource, bare as documented or wrapped as `{success, data}`.
 *
 * @returns undefined without a hash, or if wrapped with `success: false`
 */
export function readResource(body: unknown): IDataObject | undefined {
	if (!isJsonObject(body)) return undefined;
	if (withHash.safeParse(body).success) return body;
	if (saysFailure(body)) return undefined;

	const [inner] = castArray(body.data);
	if (isJsonObject(inner) && withHash.safeParse(inner).success) return inner;
	return undefined;
}
