// Generated from the OpenAPI document by generate.ts. Do not edit.

export interface paths {
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All events of the key's organization
         * @description Needs the scope `events:read`. Sorted by `startDate` descending, then `id` ascending. With a key bound to one event, only that one.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events/{eventId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One event with its open day
         * @description Needs the scope `events:read`. `currentDay` is the open day; `isOpen` is true exactly when there is one.
         */
        get: operations["getEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events/{eventId}/analytics/kpis": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Orders, sales and items of one day
         * @description Needs the scope `analytics:read`.
         */
        get: operations["getKpis"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events/{eventId}/analytics/sales-trend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Daily sales over the last dates of the event's days
         * @description Needs the scope `analytics:read`. Sorted by `date` ascending; the dates of the event's days, not of the calendar.
         */
        get: operations["getSalesTrend"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events/{eventId}/analytics/orders/by-hour": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Orders and revenue of one day by hour
         * @description Needs the scope `analytics:read`. Hours with at least one order, ascending.
         */
        get: operations["getOrdersByHour"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events/{eventId}/analytics/orders/top-items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What sells best, by quantity net of refunds
         * @description Needs the scope `analytics:read`. Sorted by `quantity` descending, `revenue` descending, `menuItemId` ascending. `quantity` and `revenue` are net of refunds: `refundedQuantity` and `refundedRevenue` are already subtracted.
         */
        get: operations["getTopItems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events/{eventId}/live/item-counts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Portions sold per menu item, made for frequent polling
         * @description Needs the scope `analytics:read`. Sorted by `menuItemId` ascending. With `menuItemIds`, one row for each id, 0 if nothing was sold. `quantitySold` is net of `quantityRefunded`. `areaId` is ignored.
         */
        get: operations["getItemCounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events/{eventId}/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The event's orders, newest first
         * @description Needs the scope `orders:read`. Sorted by `orderDateTime` descending, then `id` descending in byte order.
         */
        get: operations["listOrders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events/{eventId}/orders/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One order
         * @description Needs the scope `orders:read`. `items` are in the order of the record. No answer has a customer's name or e-mail address.
         */
        get: operations["getOrder"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Pagination: {
            page: number;
            pageSize: number;
            totalCount: number;
            /** @description 0 when totalCount is 0 */
            totalPages: number;
        };
        /** @description What an answer says about itself; each endpoint states which fields it carries */
        Meta: {
            /**
             * Format: date-time
             * @description Time of generation
             */
            generatedAt: string;
            /**
             * Format: uuid
             * @description Event concerned; all zeros in the list of events
             */
            eventId: string;
            /** @description The day that the data covers; null only when no day can be resolved */
            dayId?: number | null;
            /** @description Everything received about this event up to this time is counted; null if that time is not known */
            asOf?: string | null;
            pagination?: components["schemas"]["Pagination"];
        };
        Problem: {
            /** @description A stable URI reference, answered with a page of help */
            type: string;
            title: string;
            status: number;
            /** @description What happened and what to do; of invalid parameters, the first one */
            detail: string;
            /** @description The request path without its query */
            instance: string;
            /**
             * Format: uuid
             * @description Also in the header X-Request-Id
             */
            requestId: string;
            /** @description On a 400 about parameters only */
            errors?: components["schemas"]["ParameterError"][];
        };
        ParameterError: {
            /** @description The name of a parameter, or `path` */
            parameter: string;
            /** @description What the parameter takes */
            message: string;
        };
        EventListEnvelope: components["schemas"]["Envelope"] & {
            data: components["schemas"]["Event"][];
        };
        Event: {
            /** Format: uuid */
            id: string;
            name: string;
            /** Format: date-time */
            startDate: string;
            /** @description True exactly when currentDay is not null */
            isOpen: boolean;
            /** @description The day that is open now */
            currentDay: components["schemas"]["CurrentDay"] | null;
        };
        CurrentDay: {
            id: number;
            /** Format: date */
            date: string;
            /** Format: date-time */
            openedAt: string;
        };
        EventEnvelope: components["schemas"]["Envelope"] & {
            data: components["schemas"]["Event"];
            meta: components["schemas"]["EventMeta"];
        };
        EventMeta: components["schemas"]["Meta"] & {
            /** @description Everything received about this event up to this time is counted; null if that time is not known */
            asOf: string | null;
        };
        KpisEnvelope: components["schemas"]["Envelope"] & {
            data: components["schemas"]["Kpis"];
            meta: components["schemas"]["DayMeta"];
        };
        Kpis: {
            totalOrders: number;
            /** @description EUR */
            totalSales: number;
            /** @constant */
            currency: "EUR";
            /** @description totalSales / totalOrders rounded to the cent, halves away from zero; 0 without orders */
            averageOrderValue: number;
            /** @description Net of refunds and of what was given back: may be below zero */
            totalItemsSold: number;
        };
        DayMeta: components["schemas"]["Meta"] & {
            /** @description The day that the data covers; null only when no day can be resolved */
            dayId: number | null;
            /** @description Everything received about this event up to this time is counted; null if that time is not known */
            asOf: string | null;
        };
        SalesTrendEnvelope: components["schemas"]["Envelope"] & {
            data: components["schemas"]["SalesTrendPoint"][];
            meta: components["schemas"]["EventMeta"];
        };
        SalesTrendPoint: {
            /** Format: date */
            date: string;
            /** @description EUR */
            totalSales: number;
            orderCount: number;
            /** @constant */
            currency: "EUR";
        };
        OrdersByHourEnvelope: components["schemas"]["Envelope"] & {
            data: components["schemas"]["HourBucket"][];
            meta: components["schemas"]["DayMeta"];
        };
        HourBucket: {
            /** @description Hour of day in the event's time zone */
            hour: number;
            orderCount: number;
            /** @description EUR */
            revenue: number;
            /** @constant */
            currency: "EUR";
        };
        TopItemsEnvelope: components["schemas"]["Envelope"] & {
            data: components["schemas"]["TopItem"][];
            meta: components["schemas"]["DayMeta"];
        };
        TopItem: {
            menuItemId: number;
            itemName: string;
            categoryName: string;
            /** @description Net of refunds and of what was given back: may be below zero */
            quantity: number;
            /** @description Net of refunds and of what was given back, EUR */
            revenue: number;
            /** @description Already subtracted from quantity */
            refundedQuantity: number;
            /** @description Already subtracted from revenue */
            refundedRevenue: number;
            /** @constant */
            currency: "EUR";
        };
        ItemCountsEnvelope: components["schemas"]["Envelope"] & {
            data: components["schemas"]["ItemCount"][];
            meta: components["schemas"]["DayMeta"];
        };
        ItemCount: {
            menuItemId: number;
            itemName: string;
            /** @description Net of refunds and of what was given back: may be below zero */
            quantitySold: number;
            /** @description Already subtracted from quantitySold */
            quantityRefunded: number;
        };
        OrderListEnvelope: components["schemas"]["Envelope"] & {
            data: components["schemas"]["Order"][];
            meta: components["schemas"]["PageMeta"];
        };
        Order: {
            id: string;
            displayOrderNumber: string;
            /** @enum {string} */
            status: "PreOrder" | "Pending" | "Paid" | "Preparing" | "ReadyForPickup" | "Completed" | "Cancelled";
            areaId: number;
            dayId: number;
            /** Format: date-time */
            orderDateTime: string;
            paymentMethod: string;
            /** @description EUR */
            amountPaid: number;
            /** @description EUR */
            totalAmount: number;
            /** @description totalAmount less all refunds, which take at most what was charged; below 0 if totalAmount is */
            effectiveAmount: number;
            isTakeaway: boolean;
            tableNumber: string | null;
            items: components["schemas"]["OrderItem"][];
        };
        OrderItem: {
            menuItemId: number;
            itemName: string;
            /** @description Below zero: given back */
            quantity: number;
            /** @description EUR; below zero: given back */
            unitPrice: number;
            note: string | null;
        };
        PageMeta: components["schemas"]["Meta"] & {
            /** @description Everything received about this event up to this time is counted; null if that time is not known */
            asOf: string | null;
            pagination: components["schemas"]["Pagination"];
        };
        OrderEnvelope: components["schemas"]["Envelope"] & {
            data: components["schemas"]["Order"];
            meta: components["schemas"]["EventMeta"];
        };
        /** @description The shape of every successful answer */
        Envelope: {
            /** @description An object, or a list of objects */
            data: unknown;
            meta: components["schemas"]["Meta"];
        };
    };
    responses: {
        /** @description Not modified: `If-None-Match` matches. No body; costs one request of the rate limit. */
        NotModifiedList: {
            headers: {
                ETag: components["headers"]["ETag"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Tally-Ignored": components["headers"]["Tally-Ignored"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description Not modified: `If-None-Match` matches. No body; costs one request of the rate limit. */
        NotModified: {
            headers: {
                ETag: components["headers"]["ETag"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Tally-Ignored": components["headers"]["Tally-Ignored"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Tally-As-Of": components["headers"]["Tally-As-Of"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description A parameter has an invalid value */
        BadRequest: {
            headers: {
                /**
                 * @description Requests per window of 60 s; absent if the key was not checked
                 * @example 60
                 */
                "X-RateLimit-Limit"?: number;
                /**
                 * @description Requests left in the window; absent if the key was not checked
                 * @example 41
                 */
                "X-RateLimit-Remaining"?: number;
                /**
                 * @description Whole seconds until the window ends; absent if the key was not checked
                 * @example 12
                 */
                "X-RateLimit-Reset"?: number;
                "X-Request-Id": components["headers"]["X-Request-Id"];
                /**
                 * @description No cache keeps a problem
                 * @example no-store
                 */
                "Cache-Control": string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Token missing, malformed, wrong, expired or revoked */
        Unauthorized: {
            headers: {
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                /**
                 * @description No cache keeps a problem
                 * @example no-store
                 */
                "Cache-Control": string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The key lacks the scope of the endpoint */
        Forbidden: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                /**
                 * @description No cache keeps a problem
                 * @example no-store
                 */
                "Cache-Control": string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Not found, or not visible to this key */
        NotFound: {
            headers: {
                /**
                 * @description Requests per window of 60 s; absent if the key was not checked
                 * @example 60
                 */
                "X-RateLimit-Limit"?: number;
                /**
                 * @description Requests left in the window; absent if the key was not checked
                 * @example 41
                 */
                "X-RateLimit-Remaining"?: number;
                /**
                 * @description Whole seconds until the window ends; absent if the key was not checked
                 * @example 12
                 */
                "X-RateLimit-Reset"?: number;
                "X-Request-Id": components["headers"]["X-Request-Id"];
                /**
                 * @description No cache keeps a problem
                 * @example no-store
                 */
                "Cache-Control": string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request was not complete within 10 s */
        RequestTimeout: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                /**
                 * @description No cache keeps a problem
                 * @example no-store
                 */
                "Cache-Control": string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Rate limit exceeded: wait `Retry-After` seconds */
        TooManyRequests: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                /**
                 * @description No cache keeps a problem
                 * @example no-store
                 */
                "Cache-Control": string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request line or the headers are too long */
        HeadersTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                /**
                 * @description No cache keeps a problem
                 * @example no-store
                 */
                "Cache-Control": string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Tally failed on this request */
        InternalError: {
            headers: {
                /**
                 * @description Requests per window of 60 s; absent if the key was not checked
                 * @example 60
                 */
                "X-RateLimit-Limit"?: number;
                /**
                 * @description Requests left in the window; absent if the key was not checked
                 * @example 41
                 */
                "X-RateLimit-Remaining"?: number;
                /**
                 * @description Whole seconds until the window ends; absent if the key was not checked
                 * @example 12
                 */
                "X-RateLimit-Reset"?: number;
                "X-Request-Id": components["headers"]["X-Request-Id"];
                /**
                 * @description No cache keeps a problem
                 * @example no-store
                 */
                "Cache-Control": string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Temporarily unavailable: try again after `Retry-After` seconds */
        Unavailable: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                /**
                 * @description Requests per window of 60 s; absent if the key was not checked
                 * @example 60
                 */
                "X-RateLimit-Limit"?: number;
                /**
                 * @description Requests left in the window; absent if the key was not checked
                 * @example 41
                 */
                "X-RateLimit-Remaining"?: number;
                /**
                 * @description Whole seconds until the window ends; absent if the key was not checked
                 * @example 12
                 */
                "X-RateLimit-Reset"?: number;
                "X-Request-Id": components["headers"]["X-Request-Id"];
                /**
                 * @description No cache keeps a problem
                 * @example no-store
                 */
                "Cache-Control": string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /**
         * @description The `ETag` of the last answer (or a list, or `*`): if it still matches, the answer is a 304
         * @example W/"2V0oJ8YkX3pQm1sRz6TtUu9aBcD"
         */
        IfNoneMatch: string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description Weak entity tag of the content without `generatedAt` and `asOf`, for `If-None-Match`
         * @example W/"2V0oJ8YkX3pQm1sRz6TtUu9aBcD"
         */
        ETag: string;
        /**
         * @description Ask again each time; shared caches keep nothing
         * @example private, no-cache
         */
        "Cache-Control": string;
        /**
         * @description As `meta.asOf`; absent if that is null
         * @example 2026-09-05T19:31:07.100Z
         */
        "Tally-As-Of": string;
        /**
         * @description The names of parameters that the endpoint does not know, percent-encoded: at most ten of up to 40 characters
         * @example limit
         */
        "Tally-Ignored": string;
        /**
         * @description Whole seconds to wait before the next request
         * @example 12
         */
        "Retry-After": number;
        /**
         * @description The scheme that a token may use
         * @example Bearer
         */
        "WWW-Authenticate": string;
        /**
         * @description Requests per window of 60 s
         * @example 60
         */
        "X-RateLimit-Limit": number;
        /**
         * @description Requests left in the window
         * @example 41
         */
        "X-RateLimit-Remaining": number;
        /**
         * @description Whole seconds until the window ends
         * @example 12
         */
        "X-RateLimit-Reset": number;
        /**
         * @description Id of the request
         * @example 5f0c8a52-5d3e-4b0e-9d43-0c6f1d2b7a90
         */
        "X-Request-Id": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listEvents: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of the last answer (or a list, or `*`): if it still matches, the answer is a 304
                 * @example W/"2V0oJ8YkX3pQm1sRz6TtUu9aBcD"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Tally-Ignored": components["headers"]["Tally-Ignored"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "7c1e0000-0000-4000-8000-000000000001",
                     *           "name": "Sagra del Pesce",
                     *           "startDate": "2026-09-04T16:00:00Z",
                     *           "isOpen": true,
                     *           "currentDay": {
                     *             "id": 42,
                     *             "date": "2026-09-05",
                     *             "openedAt": "2026-09-05T16:00:00Z"
                     *           }
                     *         }
                     *       ],
                     *       "meta": {
                     *         "generatedAt": "2026-09-05T19:31:07.512Z",
                     *         "eventId": "00000000-0000-0000-0000-000000000000"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["EventListEnvelope"];
                };
            };
            304: components["responses"]["NotModifiedList"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getEvent: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of the last answer (or a list, or `*`): if it still matches, the answer is a 304
                 * @example W/"2V0oJ8YkX3pQm1sRz6TtUu9aBcD"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the event, in either case */
                eventId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Tally-Ignored": components["headers"]["Tally-Ignored"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Tally-As-Of": components["headers"]["Tally-As-Of"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "7c1e0000-0000-4000-8000-000000000001",
                     *         "name": "Sagra del Pesce",
                     *         "startDate": "2026-09-04T16:00:00Z",
                     *         "isOpen": true,
                     *         "currentDay": {
                     *           "id": 42,
                     *           "date": "2026-09-05",
                     *           "openedAt": "2026-09-05T16:00:00Z"
                     *         }
                     *       },
                     *       "meta": {
                     *         "generatedAt": "2026-09-05T19:31:07.512Z",
                     *         "eventId": "7c1e0000-0000-4000-8000-000000000001",
                     *         "asOf": "2026-09-05T19:31:07.100Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["EventEnvelope"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getKpis: {
        parameters: {
            query?: {
                /** @description Default: the open day, else the one closed last */
                dayId?: number;
                /** @description Default: all areas */
                areaId?: number;
            };
            header?: {
                /**
                 * @description The `ETag` of the last answer (or a list, or `*`): if it still matches, the answer is a 304
                 * @example W/"2V0oJ8YkX3pQm1sRz6TtUu9aBcD"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the event, in either case */
                eventId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Tally-Ignored": components["headers"]["Tally-Ignored"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Tally-As-Of": components["headers"]["Tally-As-Of"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "totalOrders": 214,
                     *         "totalSales": 3210,
                     *         "currency": "EUR",
                     *         "averageOrderValue": 15,
                     *         "totalItemsSold": 489
                     *       },
                     *       "meta": {
                     *         "generatedAt": "2026-09-05T19:31:07.512Z",
                     *         "eventId": "7c1e0000-0000-4000-8000-000000000001",
                     *         "asOf": "2026-09-05T19:31:07.100Z",
                     *         "dayId": 42
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["KpisEnvelope"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSalesTrend: {
        parameters: {
            query?: {
                /** @description Default: 7 */
                days?: number;
                /** @description Default: all areas */
                areaId?: number;
            };
            header?: {
                /**
                 * @description The `ETag` of the last answer (or a list, or `*`): if it still matches, the answer is a 304
                 * @example W/"2V0oJ8YkX3pQm1sRz6TtUu9aBcD"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the event, in either case */
                eventId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Tally-Ignored": components["headers"]["Tally-Ignored"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Tally-As-Of": components["headers"]["Tally-As-Of"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "date": "2026-09-04",
                     *           "totalSales": 2610.5,
                     *           "orderCount": 187,
                     *           "currency": "EUR"
                     *         },
                     *         {
                     *           "date": "2026-09-05",
                     *           "totalSales": 3210,
                     *           "orderCount": 214,
                     *           "currency": "EUR"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "generatedAt": "2026-09-05T19:31:07.512Z",
                     *         "eventId": "7c1e0000-0000-4000-8000-000000000001",
                     *         "asOf": "2026-09-05T19:31:07.100Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SalesTrendEnvelope"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getOrdersByHour: {
        parameters: {
            query?: {
                /** @description Default: the open day, else the one closed last */
                dayId?: number;
                /** @description Default: all areas */
                areaId?: number;
            };
            header?: {
                /**
                 * @description The `ETag` of the last answer (or a list, or `*`): if it still matches, the answer is a 304
                 * @example W/"2V0oJ8YkX3pQm1sRz6TtUu9aBcD"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the event, in either case */
                eventId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Tally-Ignored": components["headers"]["Tally-Ignored"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Tally-As-Of": components["headers"]["Tally-As-Of"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "hour": 19,
                     *           "orderCount": 61,
                     *           "revenue": 902,
                     *           "currency": "EUR"
                     *         },
                     *         {
                     *           "hour": 20,
                     *           "orderCount": 98,
                     *           "revenue": 1466.5,
                     *           "currency": "EUR"
                     *         },
                     *         {
                     *           "hour": 21,
                     *           "orderCount": 55,
                     *           "revenue": 841.5,
                     *           "currency": "EUR"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "generatedAt": "2026-09-05T19:31:07.512Z",
                     *         "eventId": "7c1e0000-0000-4000-8000-000000000001",
                     *         "asOf": "2026-09-05T19:31:07.100Z",
                     *         "dayId": 42
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OrdersByHourEnvelope"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getTopItems: {
        parameters: {
            query?: {
                /** @description Default: the open day, else the one closed last */
                dayId?: number;
                /** @description Default: all areas */
                areaId?: number;
                /** @description Default: 10 */
                limit?: number;
            };
            header?: {
                /**
                 * @description The `ETag` of the last answer (or a list, or `*`): if it still matches, the answer is a 304
                 * @example W/"2V0oJ8YkX3pQm1sRz6TtUu9aBcD"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the event, in either case */
                eventId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Tally-Ignored": components["headers"]["Tally-Ignored"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Tally-As-Of": components["headers"]["Tally-As-Of"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "menuItemId": 9,
                     *           "itemName": "Acqua",
                     *           "categoryName": "Drinks",
                     *           "quantity": 286,
                     *           "revenue": 715,
                     *           "refundedQuantity": 0,
                     *           "refundedRevenue": 0,
                     *           "currency": "EUR"
                     *         },
                     *         {
                     *           "menuItemId": 7,
                     *           "itemName": "Fritto misto",
                     *           "categoryName": "Fish",
                     *           "quantity": 203,
                     *           "revenue": 2537.5,
                     *           "refundedQuantity": 1,
                     *           "refundedRevenue": 12.5,
                     *           "currency": "EUR"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "generatedAt": "2026-09-05T19:31:07.512Z",
                     *         "eventId": "7c1e0000-0000-4000-8000-000000000001",
                     *         "asOf": "2026-09-05T19:31:07.100Z",
                     *         "dayId": 42
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TopItemsEnvelope"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getItemCounts: {
        parameters: {
            query?: {
                /** @description Default: the open day, else the one closed last */
                dayId?: number;
                /** @description Comma-separated; default: every item with a confirmed order on the day */
                menuItemIds?: string;
            };
            header?: {
                /**
                 * @description The `ETag` of the last answer (or a list, or `*`): if it still matches, the answer is a 304
                 * @example W/"2V0oJ8YkX3pQm1sRz6TtUu9aBcD"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the event, in either case */
                eventId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Tally-Ignored": components["headers"]["Tally-Ignored"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Tally-As-Of": components["headers"]["Tally-As-Of"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "menuItemId": 7,
                     *           "itemName": "Fritto misto",
                     *           "quantitySold": 203,
                     *           "quantityRefunded": 1
                     *         },
                     *         {
                     *           "menuItemId": 9,
                     *           "itemName": "Acqua",
                     *           "quantitySold": 286,
                     *           "quantityRefunded": 0
                     *         }
                     *       ],
                     *       "meta": {
                     *         "generatedAt": "2026-09-05T19:31:07.512Z",
                     *         "eventId": "7c1e0000-0000-4000-8000-000000000001",
                     *         "asOf": "2026-09-05T19:31:07.100Z",
                     *         "dayId": 42
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ItemCountsEnvelope"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listOrders: {
        parameters: {
            query?: {
                /** @description Default: all days */
                dayId?: number;
                /** @description Default: all areas */
                areaId?: number;
                /** @description Default: everything but Cancelled */
                status?: "PreOrder" | "Pending" | "Paid" | "Preparing" | "ReadyForPickup" | "Completed" | "Cancelled";
                /** @description Default: 1 */
                page?: number;
                /** @description Default: 20 */
                pageSize?: number;
            };
            header?: {
                /**
                 * @description The `ETag` of the last answer (or a list, or `*`): if it still matches, the answer is a 304
                 * @example W/"2V0oJ8YkX3pQm1sRz6TtUu9aBcD"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the event, in either case */
                eventId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Tally-Ignored": components["headers"]["Tally-Ignored"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Tally-As-Of": components["headers"]["Tally-As-Of"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "A-20260905-000123",
                     *           "displayOrderNumber": "123",
                     *           "status": "Paid",
                     *           "areaId": 1,
                     *           "dayId": 42,
                     *           "orderDateTime": "2026-09-05T19:30:41Z",
                     *           "paymentMethod": "Cash",
                     *           "amountPaid": 30,
                     *           "totalAmount": 27.5,
                     *           "effectiveAmount": 15,
                     *           "isTakeaway": false,
                     *           "tableNumber": "12",
                     *           "items": [
                     *             {
                     *               "menuItemId": 7,
                     *               "itemName": "Fritto misto",
                     *               "quantity": 2,
                     *               "unitPrice": 12.5,
                     *               "note": null
                     *             },
                     *             {
                     *               "menuItemId": 9,
                     *               "itemName": "Acqua",
                     *               "quantity": 1,
                     *               "unitPrice": 2.5,
                     *               "note": "cold"
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "meta": {
                     *         "generatedAt": "2026-09-05T19:31:07.512Z",
                     *         "eventId": "7c1e0000-0000-4000-8000-000000000001",
                     *         "asOf": "2026-09-05T19:31:07.100Z",
                     *         "pagination": {
                     *           "page": 1,
                     *           "pageSize": 20,
                     *           "totalCount": 1,
                     *           "totalPages": 1
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OrderListEnvelope"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getOrder: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of the last answer (or a list, or `*`): if it still matches, the answer is a 304
                 * @example W/"2V0oJ8YkX3pQm1sRz6TtUu9aBcD"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the event, in either case */
                eventId: string;
                /** @description The `id` of the order list, not displayOrderNumber */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Tally-Ignored": components["headers"]["Tally-Ignored"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Tally-As-Of": components["headers"]["Tally-As-Of"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "A-20260905-000123",
                     *         "displayOrderNumber": "123",
                     *         "status": "Paid",
                     *         "areaId": 1,
                     *         "dayId": 42,
                     *         "orderDateTime": "2026-09-05T19:30:41Z",
                     *         "paymentMethod": "Cash",
                     *         "amountPaid": 30,
                     *         "totalAmount": 27.5,
                     *         "effectiveAmount": 15,
                     *         "isTakeaway": false,
                     *         "tableNumber": "12",
                     *         "items": [
                     *           {
                     *             "menuItemId": 7,
                     *             "itemName": "Fritto misto",
                     *             "quantity": 2,
                     *             "unitPrice": 12.5,
                     *             "note": null
                     *           },
                     *           {
                     *             "menuItemId": 9,
                     *             "itemName": "Acqua",
                     *             "quantity": 1,
                     *             "unitPrice": 2.5,
                     *             "note": "cold"
                     *           }
                     *         ]
                     *       },
                     *       "meta": {
                     *         "generatedAt": "2026-09-05T19:31:07.512Z",
                     *         "eventId": "7c1e0000-0000-4000-8000-000000000001",
                     *         "asOf": "2026-09-05T19:31:07.100Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OrderEnvelope"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
}

/** The path of each operation, with the names of its parameters, as a URI template (RFC 6570). */
export const pathOf = {
    listEvents: "/api/v1/events{?}",
    getEvent: "/api/v1/events/{eventId}{?}",
    getKpis: "/api/v1/events/{eventId}/analytics/kpis{?dayId,areaId}",
    getSalesTrend: "/api/v1/events/{eventId}/analytics/sales-trend{?days,areaId}",
    getOrdersByHour: "/api/v1/events/{eventId}/analytics/orders/by-hour{?dayId,areaId}",
    getTopItems: "/api/v1/events/{eventId}/analytics/orders/top-items{?dayId,areaId,limit}",
    getItemCounts: "/api/v1/events/{eventId}/live/item-counts{?dayId,menuItemIds}",
    listOrders: "/api/v1/events/{eventId}/orders{?dayId,areaId,status,page,pageSize}",
    getOrder: "/api/v1/events/{eventId}/orders/{id}{?}",
} as const satisfies Record<keyof operations, string>;
/** The `type` of a problem without `/problems/`; `unknown` is an answer that is not Tally's. */
export type ProblemName =
    | "invalid-parameters"
    | "unauthorized"
    | "missing-scope"
    | "not-found"
    | "page-too-large"
    | "method-not-allowed"
    | "bad-request"
    | "request-timeout"
    | "request-too-large"
    | "rate-limit-exceeded"
    | "internal-error"
    | "service-unavailable"
    | "unknown";
