import type { ServiceContext } from '../../../nodes/DigitalSales/api/client';

export interface SimulatedRequest {
	qs?: { page?: number };
	/** JSON. */
	body?: string;
}

export interface SimulatedAnswer {
	status: number;
	headers?: Record<string, string>;
	body: unknown;
}

/** What the client uses of n8n, with a function in the place of the service. */
export function contextOf(
	answer: (request: SimulatedRequest) => Promise<SimulatedAnswer>,
): ServiceContext {
	const httpRequestWithAuthentication = async (_credential: string, request: SimulatedRequest) => {
		const { status, headers = {}, body } = await answer(request);
		return { statusCode: status, headers, body: streamOf(body) };
	};
	// Nothing else of it is used.
	return { helpers: { httpRequestWithAuthentication } } as unknown as ServiceContext;
}

/** A stream that has everything to say as soon as one listens. */
function streamOf(content: unknown): unknown {
	return {
		on: (event: string, listener: (chunk?: Buffer) => void) => {
			if (event === 'data') listener(Buffer.from(JSON.stringify(content)));
			if (event === 'end') listener();
		},
		destroy: () => undefined,
	};
}
