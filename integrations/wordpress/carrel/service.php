<?php
/* The key, the calls, and what is kept about a user. */

if ( ! defined( 'ABSPATH' ) ) {
    exit;
}

function carrel_key_hex( string $password, string $uuid ): string {
    return bin2hex( openssl_pbkdf2( hash( 'sha256', $password ), $uuid, 32, 600000, 'sha256' ) );
}

function carrel_uuid( int $user_id ): string {
    $uuid = get_user_meta( $user_id, 'carrel_uuid', true );
    if ( ! $uuid ) {
        add_user_meta( $user_id, 'carrel_uuid', wp_generate_uuid4(), true );
        $uuid = get_user_meta( $user_id, 'carrel_uuid', true );
    }
    return $uuid;
}

/* '' before the first workspace, 'begun' while there may be one, 'yes' once there was one. */
function carrel_made( int $user_id ): string {
    return get_user_meta( $user_id, 'carrel_made', true );
}

function carrel_call( string $method, string $path, array $body = array(), int $seconds = 10 ): array {
    $answer = wp_remote_request( carrel_url() . '/api' . $path, array(
        'method'      => $method,
        'timeout'     => $seconds,
        'redirection' => 0,
        'headers'     => array( 'Content-Type' => 'application/json', 'X-SVC-Plugin-Secret' => carrel_secret() ),
        'body'        => $body ? wp_json_encode( $body ) : '',
    ) );
    if ( is_wp_error( $answer ) ) {
        return array( 0, array() );
    }
    return array( wp_remote_retrieve_response_code( $answer ), (array) json_decode( wp_remote_retrieve_body( $answer ), true ) );
}

/* Ask for a session and keep its token: 'open', the code of a refusal, or 'no-answer'. */
function carrel_session( int $user_id, string $path, array $keys = array(), int $seconds = 10 ): string {
    delete_transient( 'carrel_token_' . $user_id );
    list( $status, $answer ) = carrel_call( 'POST', $path, array( 'uuid' => carrel_uuid( $user_id ) ) + $keys, $seconds );
    if ( 200 === $status ) {
        set_transient( 'carrel_token_' . $user_id, $answer['session_token'], 55 * MINUTE_IN_SECONDS );
        return 'open';
    }
    $code = $answer['code'] ?? 'no-answer';
    return 'internal' === $code ? 'no-answer' : $code;
}

/* Sign in to the workspace. The first time this creates the user, whatever was down when the user registered. */
function carrel_open( int $user_id, string $key ): string {
    $keys = array( 'db_key_hex' => $key );
    $code = carrel_session( $user_id, '/auth/login', $keys );
    if ( 'user-not-provisioned' === $code && 'yes' !== carrel_made( $user_id ) ) {
        update_user_meta( $user_id, 'carrel_made', 'begun' );
        $new = array( 'uuid' => carrel_uuid( $user_id ), 'membership' => carrel_membership( $user_id ) );
        carrel_call( 'POST', '/users', $new );
        $code = carrel_session( $user_id, '/auth/login', $keys );
    }
    if ( 'open' === $code ) {
        update_user_meta( $user_id, 'carrel_made', 'yes' );
        if ( metadata_exists( 'user', $user_id, 'carrel_told' ) && ! get_user_meta( $user_id, 'carrel_told', true ) ) {
            carrel_tell_membership( $user_id ); /* The service was down when it changed. */
        }
    } elseif ( 'user-not-provisioned' === $code ) {
        error_log( "Carrel does not know the workspace of user $user_id" );
    }
    return $code;
}

/* One step at a time for each user: the database holds the lock until this request ends or its process dies. */
function carrel_turn( int $user_id ): bool {
    global $wpdb;
    $lock    = 'carrel-' . md5( DB_NAME . $wpdb->users ) . '-' . $user_id;
    $is_mine = '1' === $wpdb->get_var( $wpdb->prepare( 'SELECT GET_LOCK( %s, 15 )', $lock ) );
    /* What this request read before it had the lock may be out of date. */
    clean_user_cache( $user_id );
    wp_cache_delete( $user_id, 'user_meta' );
    return $is_mine;
}
