let latest;

/** The least that a trigger can do: it hands on the body of a webhook, and starts nothing if the latest comes again. */
class FloorTrigger {
	description = {
		displayName: 'Floor Trigger',
		name: 'floorTrigger',
		group: ['trigger'],
		version: 1,
		description: 'What n8n itself takes for a webhook',
		defaults: { name: 'Floor Trigger' },
		inputs: [],
		outputs: ['main'],
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				responseData: 'noData',
				path: 'floor',
			},
		],
		properties: [],
	};

	async webhook() {
		const body = this.getBodyData();
		if (body.hash === latest) return {};
		latest = body.hash;
		return { workflowData: [[{ json: body }]] };
	}
}

module.exports = { FloorTrigger };
