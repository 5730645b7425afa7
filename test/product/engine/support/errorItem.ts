import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

const errorItem = z
	.object({
		error: z
			.object({
				message: z.string().min(1),
				advice: z.string().nullable(),
				status: z.number().int().nullable(),
				outcome: z.enum(['refused', 'unknown', 'notSent']),
				messages: z.array(z.string()),
				fields: z.record(z.array(z.string())),
				about: z.string().nullable(),
			})
			.strict(),
	})
	.strict();

/** What a failed item says under On Error: Continue; throws where it has another shape. */
export function errorIn(json: IDataObject | undefined): z.output<typeof errorItem>['error'] {
	return errorItem.parse(json).error;
}
